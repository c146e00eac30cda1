import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react'
import { formatNumber } from '../../../locales/formats.ts'
import { Badge, type Tone } from '../../../ui/Badge.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Segmented } from '../../../ui/Segmented.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import type { ResourceResponse } from './send-request.ts'
import { mimeTypeOf, readBody, type ShownBody } from './body.ts'
import { JsonTree } from './JsonTree.tsx'

// Reading a page needs an HTML parser; few responses are pages.
const HtmlView = lazy(() =>
  import('../html/HtmlView.tsx').then((module) => ({ default: module.HtmlView })),
)

export type ResponseCardProps = {
  answer: ResourceResponse
  /** The requested URL. */
  url: string
  title: ReactNode
  /** Below the title, for example what was paid. */
  children?: ReactNode
}

/** A server's response, shown as data. */
export function ResponseCard({ answer, url, title, children }: ResponseCardProps) {
  const { t } = useLingui()
  const shown = useMemo(() => readBody(answer), [answer])
  const size = formatNumber(answer.body.length)
  const ms = formatNumber(answer.ms)
  return (
    <Card
      action={
        <Badge tone={toneOf(answer.status)} title={t`The server’s status`}>
          <span className="figures">{answer.status}</span>
        </Badge>
      }
      subtitle={
        <Trans>
          {size} bytes in {ms} ms
        </Trans>
      }
      title={title}
    >
      {children}
      <BodyView shown={shown} url={url} />
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {shown.kind !== 'empty' && (
          <Button icon={<Icon name="download" />} onClick={() => save(answer)} size="sm">
            <Trans>Save as a file</Trans>
          </Button>
        )}
      </div>
      <HeaderList answer={answer} />
    </Card>
  )
}

function BodyView({ shown, url }: { shown: ShownBody; url: string }) {
  const { t } = useLingui()
  switch (shown.kind) {
    case 'empty':
      return (
        <p className="text-sm text-muted">
          <Trans>The answer is empty.</Trans>
        </p>
      )
    case 'image':
      return (
        <img
          alt={t`The picture the server sent`}
          className="max-h-120 max-w-full rounded-lg border border-line"
          src={shown.src}
        />
      )
    case 'binary':
      return (
        <p className="text-sm text-muted">
          <Trans>This is no text and no picture. Save it to open it with another program.</Trans>
        </p>
      )
    case 'json':
      return (
        <div
          aria-label={t`The answer`}
          className="max-h-120 overflow-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px]"
          role="region"
          tabIndex={0}
        >
          <JsonTree value={shown.value} />
        </div>
      )
    case 'page':
      return <PageView text={shown.text} url={url} />
    case 'text':
      return <SourceView text={shown.text} />
  }
}

/** A page is shown as readable text first; its source is available on demand. */
function PageView({ text, url }: { text: string; url: string }) {
  const { t } = useLingui()
  const [look, setLook] = useState<'page' | 'source'>('page')
  return (
    <>
      <Segmented
        className="mb-3"
        label={t`How it is shown`}
        onChange={setLook}
        options={[
          { value: 'page', label: t`To read` },
          { value: 'source', label: t`Its source` },
        ]}
        value={look}
      />
      {look === 'source' ? (
        <SourceView text={text} />
      ) : (
        <div
          aria-label={t`The answer`}
          className="rounded-lg border border-line px-4 py-5 sm:px-8 sm:py-6"
          role="region"
        >
          <Suspense fallback={<Spinner />}>
            <HtmlView html={text} url={url} />
          </Suspense>
        </div>
      )}
    </>
  )
}

function SourceView({ text }: { text: string }) {
  const { t } = useLingui()
  return (
    <div
      aria-label={t`The answer`}
      className="max-h-120 overflow-auto rounded-lg bg-sunken px-4 py-3"
      role="region"
      tabIndex={0}
    >
      <UntrustedText className="block text-sm break-words whitespace-pre-wrap" text={text} />
    </div>
  )
}

/** The headers this browser could read. */
export function HeaderList({ answer }: { answer: ResourceResponse }) {
  if (answer.headers.length === 0) return null
  return (
    <details className="group mt-4">
      <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-sm text-sm font-medium text-muted hover:text-ink">
        <Icon className="transition-transform group-open:rotate-90" name="chevronRight" />
        <Trans>Headers that could be read</Trans>
      </summary>
      <dl className="mt-2 max-h-80 space-y-1 overflow-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px]">
        {answer.headers.map(([name, value], index) => (
          <div className="flex flex-wrap gap-x-2" key={`${name} ${index}`}>
            <dt className="text-muted">
              <UntrustedText text={name} />
            </dt>
            <dd className="min-w-0 break-all">
              <UntrustedText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function toneOf(status: number): Tone {
  if (status >= 200 && status < 300) return 'good'
  if (status === 402) return 'info'
  return status >= 400 ? 'bad' : 'neutral'
}

/** A file name chosen here, and a type that no browser opens by itself. */
function save(answer: ResourceResponse): void {
  const ending = /^[a-z]+\/([a-z0-9]{1,8})/.exec(mimeTypeOf(answer))?.[1] ?? 'bin'
  const url = URL.createObjectURL(
    new Blob([Uint8Array.from(answer.body)], { type: 'application/octet-stream' }),
  )
  const link = document.createElement('a')
  link.href = url
  link.download = `answer.${ending === 'plain' ? 'txt' : ending}`
  link.click()
  URL.revokeObjectURL(url)
}

import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react'
import { parseJson } from '#contract/json.ts'
import { encodeBase64 } from '#x402/header.ts'
import { formatNumber } from '../../../locales/formats.ts'
import { Badge, type Tone } from '../../../ui/Badge.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { saveFile } from '../../../ui/CopyButton.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Segmented } from '../../../ui/Segmented.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { UntrustedLink, UntrustedText } from '../../../ui/UntrustedText.tsx'
import { JsonTree } from './JsonTree.tsx'
import { ResultTitle } from './ResultTitle.tsx'
import { headerOf } from './challenge.ts'
import { isSuccess, type ResourceResponse } from './send-request.ts'
import { Disclosure } from '../../../ui/Disclosure.tsx'

/**
 * How a response's body is shown: as text, a tree, a picture, or the text of a page. Nothing in it
 * is executed.
 */
type ShownBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'page'; text: string }
  | { kind: 'image'; src: string }
  | { kind: 'binary' }

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/
/** Longer text is offered as a file to save. */
const MAX_TEXT = 200_000

function mimeTypeOf(answer: Pick<ResourceResponse, 'headers'>): string {
  return (headerOf(answer, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

export function readBody(answer: ResourceResponse): ShownBody {
  if (answer.file) return { kind: 'binary' }
  if (answer.body.length === 0) return { kind: 'empty' }
  const mimeType = mimeTypeOf(answer)
  if (IMAGE.test(mimeType))
    return { kind: 'image', src: `data:${mimeType};base64,${encodeBase64(answer.body)}` }
  const text = readText(answer.body, charsetOf(answer))
  if (text === undefined || text.length > MAX_TEXT) return { kind: 'binary' }
  if (mimeType === '' || mimeType.endsWith('json')) {
    try {
      return { kind: 'json', value: parseJson(text), text }
    } catch {
      return { kind: 'text', text }
    }
  }
  return { kind: HTML.test(mimeType) ? 'page' : 'text', text }
}

function charsetOf(answer: Pick<ResourceResponse, 'headers'>): string {
  return (
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headerOf(answer, 'content-type') ?? '')?.[1] ?? 'utf-8'
  )
}

/** Text in the charset its sender names; undefined if it cannot be decoded or contains a NUL. */
function readText(body: Uint8Array, charset: string): string | undefined {
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(body)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

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
  const size = formatNumber(answer.file?.size ?? answer.body.length)
  const ms = formatNumber(answer.ms)
  const location = locationOf(answer, url)
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
      title={<ResultTitle>{title}</ResultTitle>}
    >
      {children}
      {location && (
        <p className="mb-4 text-sm break-all">
          <code className="me-2 text-[13px] text-muted">Location</code>
          <UntrustedLink href={location} />
        </p>
      )}
      <BodyView shown={shown} url={url} />
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {shown.kind !== 'empty' && answer.status < 500 && (
          <Button icon={<Icon name="download" />} onClick={() => save(answer)} size="sm">
            <Trans>Save file</Trans>
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
          <Trans>Empty response.</Trans>
        </p>
      )
    case 'image':
      return (
        <img
          alt={t`Image from the server`}
          className="max-h-120 max-w-full rounded-lg border border-line"
          src={shown.src}
        />
      )
    case 'binary':
      return (
        <p className="text-sm text-muted">
          <Trans>Preview unavailable. Save the file.</Trans>
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
        label={t`View as`}
        onChange={setLook}
        options={[
          { value: 'page', label: t`Text` },
          { value: 'source', label: t`Source code` },
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
export function HeaderList({
  answer,
  className = 'mt-4',
}: {
  answer: ResourceResponse
  className?: string
}) {
  if (answer.headers.length === 0) return null
  return (
    <Disclosure className={className} label={<Trans>Response headers</Trans>}>
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
    </Disclosure>
  )
}

/** Where a redirection leads: nothing follows it by itself. */
export function locationOf(
  answer: Pick<ResourceResponse, 'status' | 'headers'>,
  url: string,
): string | undefined {
  const location = headerOf(answer, 'location')
  if (answer.status < 300 || answer.status > 399 || location === undefined) return undefined
  return URL.parse(location, url)?.href ?? location
}

function toneOf(status: number): Tone {
  if (isSuccess(status)) return 'good'
  if (status === 402) return 'info'
  return status >= 400 ? 'bad' : 'neutral'
}

/** A file name chosen here, and a type that no browser opens by itself. */
function save(answer: ResourceResponse): void {
  const ending = /^[a-z]+\/([a-z0-9]{1,8})/.exec(mimeTypeOf(answer))?.[1] ?? 'bin'
  saveFile(
    new Blob([answer.file ?? Uint8Array.from(answer.body)], { type: 'application/octet-stream' }),
    `answer.${ending === 'plain' ? 'txt' : ending}`,
  )
}

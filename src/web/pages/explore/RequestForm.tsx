import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { RELAY_METHODS } from '#contract/relay.ts'
import { useConfig } from '../../api/use-config.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import {
  readRequest,
  type HttpMethod,
  type RequestFields,
  type ResourceRequest,
} from './request/request.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { SilentServer } from './request/SilentServer.tsx'
import { RelayLimits } from './request/UnansweredCard.tsx'

export type RequestFormProps = {
  fields: RequestFields
  onChange: (fields: RequestFields) => void
  onSend: (request: ResourceRequest) => void
  busy: boolean
  /** It replaces the control that had the focus: its first field gets it. */
  focused: boolean
}

/** Where the way begins: what to ask, and how to get there. */
export function RequestForm({ fields, onChange, onSend, busy, focused }: RequestFormProps) {
  const { examples } = useConfig()
  const [problems, setProblems] = useState<Partial<Record<'url' | 'headers' | 'body', string>>>({})
  const set = (change: Partial<RequestFields>) => onChange({ ...fields, ...change })
  const urlField = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (focused) urlField.current?.focus()
  }, [focused])

  function submit(event: FormEvent) {
    event.preventDefault()
    send(fields)
  }

  function send(toSend: RequestFields) {
    const read = readRequest(toSend)
    setProblems(read.ok ? {} : read.problems)
    if (read.ok) onSend(read.request)
  }

  function tryExample(url: string) {
    const example: RequestFields = { ...fields, method: 'GET', url, headers: '', body: '' }
    onChange(example)
    send(example)
  }

  return (
    <Card>
      <form noValidate onSubmit={submit}>
        <div className="grid gap-3 sm:grid-cols-[7.5rem_minmax(0,1fr)]">
          <Field label={<Trans>Method</Trans>}>
            <Select
              onChange={(event) => set({ method: event.target.value as HttpMethod })}
              value={fields.method}
            >
              {RELAY_METHODS.map((method) => (
                <option key={method} value={method}>
                  {method}
                </option>
              ))}
            </Select>
          </Field>
          <Field error={problems.url} label={<Trans>URL</Trans>}>
            <Input
              inputMode="url"
              mono
              onChange={(event) => set({ url: event.target.value })}
              placeholder="https://"
              ref={urlField}
              type="url"
              value={fields.url}
            />
          </Field>
        </div>

        <RequestDetails fields={fields} onChange={set} problems={problems} />

        <div className="mt-5">
          <Button
            busy={busy}
            className="max-sm:w-full"
            icon={<Icon name="arrowOut" />}
            type="submit"
            variant="primary"
          >
            <Trans>Request</Trans>
          </Button>
          {busy && <SilentServer url={fields.url} />}
        </div>

        {examples.length > 0 && (
          <div className="mt-5 flex flex-wrap items-center gap-2">
            <span className="text-sm text-muted">
              <Trans>Try one:</Trans>
            </span>
            {examples.map(({ name, url, description }) => (
              <Button
                className="h-auto min-h-8 max-w-full flex-wrap justify-start gap-y-0 py-1 text-start whitespace-normal!"
                key={url}
                onClick={() => tryExample(url)}
                size="sm"
                title={url}
              >
                {name}
                {description && <span className="font-normal text-muted">{description}</span>}
              </Button>
            ))}
          </div>
        )}
      </form>
    </Card>
  )
}

type RequestDetailsProps = {
  fields: RequestFields
  problems: Partial<Record<'url' | 'headers' | 'body', string>>
  onChange: (change: Partial<RequestFields>) => void
}

/** What most requests do without. */
function RequestDetails({ fields, problems, onChange }: RequestDetailsProps) {
  const { t } = useLingui()
  const { relay } = useConfig()
  return (
    <Disclosure
      className="mt-4"
      open={problems.headers !== undefined || problems.body !== undefined || undefined}
      label={<Trans>Headers, body, routing</Trans>}
    >
      <div className="mt-3 space-y-4">
        <Field
          error={problems.headers}
          hint={<Trans>One header per line</Trans>}
          label={<Trans>Headers</Trans>}
          optional
        >
          <TextArea
            mono
            onChange={(event) => onChange({ headers: event.target.value })}
            placeholder="Accept: application/json"
            rows={2}
            value={fields.headers}
          />
        </Field>
        {fields.method !== 'GET' && fields.method !== 'HEAD' && (
          <Field error={problems.body} label={<Trans>Body</Trans>} optional>
            <TextArea
              mono
              onChange={(event) => onChange({ body: event.target.value })}
              rows={4}
              value={fields.body}
            />
          </Field>
        )}
        {relay !== 'off' && (
          <div>
            <Segmented
              label={t`Route`}
              onChange={(via) => onChange({ via })}
              options={[
                { value: 'direct', label: t`From this browser` },
                { value: 'relay', label: t`Through the relay` },
              ]}
              value={fields.via}
            />
            {fields.via === 'relay' && (
              <p className="mt-1.5 text-sm text-muted">
                <Trans>The relay sees the request and payment.</Trans> <RelayLimits />
              </p>
            )}
          </div>
        )}
      </div>
    </Disclosure>
  )
}

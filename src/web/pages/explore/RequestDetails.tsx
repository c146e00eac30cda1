import { Trans, useLingui } from '@lingui/react/macro'
import { useConfig } from '../../api/use-config.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import type { RequestFields } from './request/request.ts'

export type RequestDetailsProps = {
  fields: RequestFields
  problems: Partial<Record<'url' | 'headers' | 'body', string>>
  onChange: (change: Partial<RequestFields>) => void
}

/** What most requests do without. */
export function RequestDetails({ fields, problems, onChange }: RequestDetailsProps) {
  const { t } = useLingui()
  const { relay } = useConfig()
  return (
    <details
      className="group mt-4"
      open={problems.headers !== undefined || problems.body !== undefined || undefined}
    >
      <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-sm text-sm font-medium text-muted hover:text-ink">
        <Icon className="transition-transform group-open:rotate-90" name="chevronRight" />
        <Trans>Headers, body and route</Trans>
      </summary>
      <div className="mt-3 space-y-4">
        <Field
          error={problems.headers}
          hint={<Trans>One in each line. What pays is added later, by this page.</Trans>}
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
            <p className="mt-1.5 text-sm text-muted">
              {fields.via === 'direct' ? (
                <Trans>
                  Your browser asks the server itself. Some servers do not let pages read their
                  answers.
                </Trans>
              ) : (
                <Trans>
                  The relay sends the request for you, without cookies or keys. It sees everything
                  you send, including the payment.
                </Trans>
              )}
            </p>
          </div>
        )}
      </div>
    </details>
  )
}

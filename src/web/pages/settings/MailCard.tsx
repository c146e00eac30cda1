import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { Trans, useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { MAIL_KINDS, type MailKind, type MailSettings } from '#contract/mail-endpoints.ts'
import { isEmail } from '#contract/payment-link.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { queryClient } from '../../api/query-client.ts'
import { useSession } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { isLanguage, LANGUAGES, type Language } from '../../local-data/languages.ts'
import { i18n } from '../../locales/i18n.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'

const KINDS: Readonly<Record<MailKind, MessageDescriptor>> = {
  payment_confirmed: msg`Payment confirmed`,
  payment_finalized: msg`Payment finalized`,
  unmatched: msg`Unmatched payments`,
  undelivered: msg`Paid, not delivered`,
  refund_request: msg`Refund requested`,
  refund_failed: msg`Refund failed`,
  webhook_dead: msg`Webhook delivery failed`,
}

/** What a person is not told of elsewhere in time; each payment is a choice. */
const USUAL: readonly MailKind[] = MAIL_KINDS.filter((kind) => !kind.startsWith('payment_'))

const mailQuery = queryOptions({
  queryKey: ['mailRead'],
  queryFn: ({ signal }) => callProxy('mailRead', {}, { signal }),
})

/** For people of the account: where they are sent emails, and of what. The proxy keeps it. */
export function MailCard() {
  const state = useSession()
  const role = state.kind === 'known' ? (state.session?.role ?? null) : null
  return role === null ? null : <Mail />
}

function Mail() {
  const { data, error } = useQuery(mailQuery)
  return (
    <Card title={<Trans>Emails</Trans>}>
      {!data && !error && <Skeleton className="h-40" />}
      {error && <p className="text-sm text-muted">{describeError(error).title}</p>}
      {data && !data.available && (
        <p className="text-sm text-muted">
          <Trans>This server sends no emails.</Trans>
        </p>
      )}
      {data?.available && (
        <div className="grid gap-6">
          {data.settings && !data.settings.confirmed && (
            <CodeForm address={data.settings.address} />
          )}
          <MailForm key={data.settings?.address} settings={data.settings} />
        </div>
      )}
    </Card>
  )
}

/** What was changed is what is shown; a problem is told beside the button. */
function useChange() {
  const [busy, setBusy] = useState<string>()
  const [problem, setProblem] = useState<unknown>()
  async function change(name: string, run: () => Promise<MailSettings>): Promise<boolean> {
    if (busy !== undefined) return false
    setBusy(name)
    setProblem(undefined)
    try {
      queryClient.setQueryData(mailQuery.queryKey, await run())
      return true
    } catch (error) {
      setProblem(error)
      return false
    } finally {
      setBusy(undefined)
    }
  }
  return { busy, problem, change }
}

function CodeForm({ address }: { address: string }) {
  const { t } = useLingui()
  const [code, setCode] = useState('')
  const { busy, problem, change } = useChange()

  async function confirm(event: FormEvent) {
    event.preventDefault()
    const done = await change('confirm', () =>
      callProxy('mailConfirm', { body: { code: code.trim() } }),
    )
    if (done) toast(t`Address confirmed`, { tone: 'good' })
  }

  const wrong = problem instanceof ApiError && problem.details['code'] !== undefined
  return (
    <form onSubmit={(event) => void confirm(event)}>
      <Field
        error={
          problem === undefined ? undefined : wrong ? (
            <Trans>Wrong or expired code. Save again.</Trans>
          ) : (
            describeError(problem).title
          )
        }
        hint={<Trans>Sent to {address}.</Trans>}
        label={<Trans>Code</Trans>}
      >
        <Input
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={12}
          mono
          onChange={(event) => setCode(event.target.value)}
          value={code}
        />
      </Field>
      <Button busy={busy === 'confirm'} className="mt-3" size="sm" type="submit">
        <Trans>Confirm address</Trans>
      </Button>
    </form>
  )
}

function MailForm({ settings }: { settings: MailSettings['settings'] }) {
  const { t } = useLingui()
  const [address, setAddress] = useState(settings?.address ?? '')
  const [language, setLanguage] = useState<Language>(settings?.language ?? shownLanguage())
  const [kinds, setKinds] = useState<readonly MailKind[]>(settings?.kinds ?? USUAL)
  const [invalid, setInvalid] = useState(false)
  const { busy, problem, change } = useChange()

  async function save(event: FormEvent) {
    event.preventDefault()
    const typed = address.trim()
    setInvalid(!isEmail(typed))
    if (!isEmail(typed)) return
    const body = { address: typed, language, kinds: [...kinds] }
    if (await change('save', () => callProxy('mailWrite', { body })))
      toast(t`Saved`, { tone: 'good' })
  }

  return (
    <form className="grid gap-4" noValidate onSubmit={(event) => void save(event)}>
      {settings?.failedAt && (
        <Banner title={<Trans>The last email was rejected</Trans>} tone="warn">
          <Time at={settings.failedAt} look="full" />
        </Banner>
      )}
      <Field
        aside={settings && <ConfirmedBadge confirmed={settings.confirmed} />}
        error={invalid ? <Trans>Enter an email address.</Trans> : undefined}
        label={<Trans>Email address</Trans>}
      >
        <Input
          autoComplete="email"
          inputMode="email"
          onChange={(event) => setAddress(event.target.value)}
          value={address}
        />
      </Field>
      <Field label={<Trans>Language</Trans>}>
        <Select
          onChange={({ target }) => setLanguage(isLanguage(target.value) ? target.value : 'en')}
          value={language}
        >
          {Object.entries(LANGUAGES).map(([tag, name]) => (
            <option key={tag} lang={tag} value={tag}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      <fieldset className="grid gap-2.5">
        <legend className="mb-2.5 text-sm font-medium">
          <Trans>Send me</Trans>
        </legend>
        {MAIL_KINDS.map((kind) => (
          <Checkbox
            checked={kinds.includes(kind)}
            key={kind}
            label={t(KINDS[kind])}
            onChange={({ target }) =>
              setKinds((before) =>
                target.checked ? [...before, kind] : before.filter((each) => each !== kind),
              )
            }
          />
        ))}
      </fieldset>
      {problem !== undefined && (
        <p className="text-sm text-bad-ink" role="alert">
          {describeError(problem).title}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button busy={busy === 'save'} type="submit">
          <Trans>Save</Trans>
        </Button>
        {settings && (
          <Button
            busy={busy === 'delete'}
            onClick={() => void change('delete', () => callProxy('mailDelete', { body: {} }))}
            type="button"
            variant="quiet"
          >
            <Trans>Delete</Trans>
          </Button>
        )}
      </div>
    </form>
  )
}

function ConfirmedBadge({ confirmed }: { confirmed: boolean }) {
  return confirmed ? (
    <Badge tone="good">
      <Trans>Address confirmed</Trans>
    </Badge>
  ) : (
    <Badge tone="warn">
      <Trans>Not confirmed</Trans>
    </Badge>
  )
}

function shownLanguage(): Language {
  return isLanguage(i18n.locale) ? i18n.locale : 'en'
}

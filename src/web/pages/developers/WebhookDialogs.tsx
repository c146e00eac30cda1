import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'
import { WEBHOOK_TYPES, type Webhook, type WebhookType } from '#contract/webhook-endpoints.ts'
import { call } from '../../api/client.ts'
import { serverNow } from '../../api/clock.ts'
import { ApiError } from '../../api/errors.ts'
import { deliveriesKey, deliveryCountQuery, webhooksQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { toast } from '../../ui/Toast.tsx'
import { GraceSelect, USUAL_GRACE, type Grace, KeyProblem } from './NewKeyDialog.tsx'

type Made = { onClose: () => void; onMade: (secret: string) => void }

export function CreateWebhookDialog({ onClose, onMade }: Made) {
  const { t } = useLingui()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly WebhookType[]>([])
  const { busy, problem, run } = useRun()
  const refused = problem instanceof ApiError && 'url' in problem.details

  function create(event: FormEvent) {
    event.preventDefault()
    void run(async () => {
      const { secret } = await call(
        'webhookCreate',
        { body: { url: url.trim(), events: [...events] } },
        { idempotencyKey: crypto.randomUUID() },
      )
      onMade(secret)
    })
  }

  return (
    <Dialog onClose={onClose} open title={<Trans>Add webhook</Trans>}>
      <form className="grid gap-4" onSubmit={create}>
        <Field
          error={refused ? <Trans>Enter a public https:// address on port 443.</Trans> : undefined}
          label={<Trans>URL</Trans>}
        >
          <Input
            inputMode="url"
            maxLength={2048}
            onChange={(event) => setUrl(event.target.value)}
            placeholder="https://"
            value={url}
          />
        </Field>
        <fieldset>
          <legend className="mb-2 text-sm font-medium">{t`Events`}</legend>
          <p className="mb-2 text-sm text-muted">
            <Trans>All, if you choose none.</Trans>
          </p>
          <div className="grid gap-2 sm:grid-cols-2">
            {WEBHOOK_TYPES.map((type) => (
              <Checkbox
                checked={events.includes(type)}
                key={type}
                label={<span className="font-mono text-[13px]">{type}</span>}
                onChange={(event) =>
                  setEvents(
                    WEBHOOK_TYPES.filter((each) =>
                      each === type ? event.target.checked : events.includes(each),
                    ),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
        {problem !== undefined && !refused && <KeyProblem problem={problem} />}
        <Buttons onClose={onClose}>
          <Button busy={busy} disabled={url.trim() === ''} type="submit" variant="primary">
            <Trans>Add webhook</Trans>
          </Button>
        </Buttons>
      </form>
    </Dialog>
  )
}

/** The secret that verifies signatures, in the one moment in which it can be seen. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { t } = useLingui()
  return (
    <Dialog
      description={<Trans>Shown only once.</Trans>}
      dismissable={false}
      footer={
        <Button onClick={onClose} variant="primary">
          <Trans>Done</Trans>
        </Button>
      }
      onClose={onClose}
      open
      title={<Trans>Signing secret</Trans>}
    >
      <div className="grid gap-3">
        <code
          aria-label={t`Signing secret`}
          className="rounded-lg border border-edge bg-sunken px-3 py-2 font-mono text-[13px] [overflow-wrap:anywhere]"
        >
          {secret}
        </code>
        <div>
          <CopyButton label={t`Copy`} text value={secret} />
        </div>
      </div>
    </Dialog>
  )
}

export function RotateSecretDialog({
  webhook: { id },
  onClose,
  onMade,
}: Made & { webhook: Webhook }) {
  const [grace, setGrace] = useState<Grace>(USUAL_GRACE)
  const { busy, problem, run } = useRun()

  function rotate(event: FormEvent) {
    event.preventDefault()
    void run(async () => {
      const { secret } = await call(
        'webhookRotate',
        { params: { id }, body: { graceSeconds: grace } },
        { idempotencyKey: crypto.randomUUID() },
      )
      onMade(secret)
    })
  }

  return (
    <Dialog onClose={onClose} open size="sm" title={<Trans>New secret</Trans>}>
      <form className="grid gap-4" onSubmit={rotate}>
        <Field
          hint={<Trans>Until then both secrets sign.</Trans>}
          label={<Trans>Old secret valid for</Trans>}
        >
          <GraceSelect onChange={setGrace} value={grace} />
        </Field>
        {problem !== undefined && <KeyProblem problem={problem} />}
        <Buttons onClose={onClose}>
          <Button busy={busy} type="submit" variant="primary">
            <Trans>New secret</Trans>
          </Button>
        </Buttons>
      </form>
    </Dialog>
  )
}

type DeleteProps = { webhook: Webhook; onClose: () => void }

export function DeleteWebhookDialog({ webhook: { id, url }, onClose }: DeleteProps) {
  const { t } = useLingui()
  const { busy, problem, run } = useRun()

  function remove() {
    void run(async () => {
      await call('webhookDelete', { params: { id } })
      toast(t`Webhook deleted`)
      onClose()
    })
  }

  return (
    <Dialog
      footer={
        <Buttons onClose={onClose}>
          <Button busy={busy} onClick={remove} variant="danger">
            <Trans>Delete</Trans>
          </Button>
        </Buttons>
      }
      onClose={onClose}
      open
      size="sm"
      title={<Trans>Delete webhook</Trans>}
    >
      <p className="font-mono text-[13px] [overflow-wrap:anywhere]">{url}</p>
      <Banner className="mt-3" tone="warn">
        <Trans>Its log is deleted too.</Trans>
      </Banner>
      {problem !== undefined && <KeyProblem problem={problem} />}
    </Dialog>
  )
}

type RedeliverProps = { webhook: Webhook; onClose: () => void }

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Sends what was made in a time once more, after it has said how much that is. */
export function RedeliverDialog({ webhook: { id, url, enabled }, onClose }: RedeliverProps) {
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const [which, setWhich] = useState<'dead' | 'all'>('dead')
  const [from, setFrom] = useState(() => minuteOf(serverNow() - DAY_MS, zone))
  const [to, setTo] = useState(() => minuteOf(serverNow(), zone))
  const { busy, problem, run } = useRun()
  const since = timeOf(from, zone)
  // Its minute is part of the time.
  const until = timeOf(to, zone) + MINUTE_MS
  const backwards = since >= until
  const valid = Number.isFinite(since) && Number.isFinite(until) && !backwards
  const range = { since, until, ...(which === 'dead' && { state: which }) }
  const count = useQuery({ ...deliveryCountQuery(id, range), enabled: valid })
  const total = valid ? count.data : undefined
  const sentAgain = (deliveries: number) =>
    t`${plural(deliveries, { one: '# delivery will be sent again.', other: '# deliveries will be sent again.' })}`
  const failure = problem ?? (total === undefined ? count.error : null)
  const refusal = failure === null ? undefined : describeRefusal(failure)

  function redeliver(event: FormEvent) {
    event.preventDefault()
    if (!total) return
    void run(async () => {
      const { deliveries } = await call(
        'webhookRedeliver',
        { params: { id }, body: range },
        { idempotencyKey: crypto.randomUUID() },
      )
      void queryClient.invalidateQueries({ queryKey: deliveriesKey(id) })
      toast(sentAgain(deliveries))
      onClose()
    })
  }

  return (
    <Dialog
      description={<Trans>Event IDs stay the same.</Trans>}
      onClose={onClose}
      open
      title={<Trans>Redeliver a time range</Trans>}
    >
      <form className="grid gap-4" onSubmit={redeliver}>
        <p className="font-mono text-[13px] [overflow-wrap:anywhere]">{url}</p>
        <Segmented
          className="justify-self-start"
          label={t`Deliveries`}
          onChange={setWhich}
          options={[
            { value: 'dead', label: t`Failed` },
            { value: 'all', label: t`All deliveries` },
          ]}
          value={which}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={<Trans context="date">From</Trans>}>
            <Input
              onChange={(event) => setFrom(event.target.value)}
              required
              type="datetime-local"
              value={from}
            />
          </Field>
          <Field
            error={backwards ? <Trans>End precedes start.</Trans> : undefined}
            label={<Trans context="time">To (inclusive)</Trans>}
          >
            <Input
              onChange={(event) => setTo(event.target.value)}
              required
              type="datetime-local"
              value={to}
            />
          </Field>
        </div>
        <p className="text-xs text-muted">
          {zone === 'utc' ? <Trans>Time zone: UTC</Trans> : <Trans>Your time zone</Trans>}
        </p>
        {!enabled && (
          <Banner tone="warn">
            <Trans>This webhook is off: deliveries wait.</Trans>
          </Banner>
        )}
        {refusal && (
          <Banner role="alert" title={refusal.title} tone="bad">
            {refusal.body}
          </Banner>
        )}
        <p className="text-sm" role="status">
          {total === undefined ? (
            count.isFetching && <Trans>Counting</Trans>
          ) : total === 0 ? (
            <Trans>Nothing found</Trans>
          ) : (
            sentAgain(total)
          )}
        </p>
        <Buttons onClose={onClose}>
          <Button busy={busy} disabled={!total} type="submit" variant="primary">
            <Trans>Deliver again</Trans>
          </Button>
        </Buttons>
      </form>
    </Dialog>
  )
}

type Zone = ReturnType<typeof usePreferences>['timeZone']

/** What a field of date and time shows for a time. */
function minuteOf(at: number, zone: Zone): string {
  const offset = zone === 'utc' ? 0 : new Date(at).getTimezoneOffset()
  return new Date(at - offset * MINUTE_MS).toISOString().slice(0, 16)
}

/** NaN while the field is incomplete. */
function timeOf(minute: string, zone: Zone): number {
  return Date.parse(zone === 'utc' ? `${minute}Z` : minute)
}

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onClose} variant="quiet">
        <Trans>Cancel</Trans>
      </Button>
      {children}
    </div>
  )
}

/** One change at a time; the list is read again after each. */
function useRun() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()

  async function run(work: () => Promise<void>): Promise<void> {
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries(webhooksQuery)
    }
  }

  return { busy, problem, run }
}

import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import type { CustomerProfile } from '#contract/customer-endpoints.ts'
import { stringifyJson } from '#contract/json.ts'
import { hasRole } from '#contract/role.ts'
import { callProxy } from '../../api/client.ts'
import { deleteProfile, writeProfile, type ProfileUpdate } from '../../api/customers.ts'
import { ApiError } from '../../api/errors.ts'
import { useRole } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { toast } from '../../ui/Toast.tsx'

type ProfileCardProps = { wallet: string; profile: CustomerProfile | undefined }

/** What the account's people write about a customer. The customer never sees it. */
export function ProfileCard({ wallet, profile }: ProfileCardProps) {
  const operator = hasRole(useRole(), 'operator')
  return (
    <Card subtitle={<Trans>Visible to your team only.</Trans>} title={<Trans>Profile</Trans>}>
      <fieldset disabled={!operator}>
        <ProfileForm profile={profile} wallet={wallet} />
      </fieldset>
    </Card>
  )
}

/** As it is typed: labels on one line, with commas between them. */
type Typed = { name: string; email: string; labels: string; note: string }

function ProfileForm({ wallet, profile }: ProfileCardProps) {
  const { t } = useLingui()
  const operator = hasRole(useRole(), 'operator')
  const start: Typed = {
    name: profile?.name ?? '',
    email: profile?.email ?? '',
    labels: profile?.labels.join(', ') ?? '',
    note: profile?.note ?? '',
  }
  /** What the reader typed. The other fields follow what is saved. */
  const [edits, setEdits] = useState<Partial<Typed>>({})
  const typed = { ...start, ...edits }
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const changed = (Object.keys(start) as (keyof Typed)[]).some(
    (name) => typed[name] !== start[name],
  )
  const set = (name: keyof Typed) => (event: { target: { value: string } }) =>
    setEdits({ ...edits, [name]: event.target.value })
  const errorOf = (name: keyof Typed) =>
    problem instanceof ApiError ? detailOf(problem, name) : undefined

  async function save(event: FormEvent) {
    event.preventDefault()
    if (busy || !changed) return
    setBusy(true)
    setProblem(undefined)
    try {
      await writeProfile(wallet, changeOf(start, typed))
      // What was typed meanwhile stays.
      setEdits((now) => (now === edits ? {} : now))
      toast(t`Saved`)
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form className="grid gap-4" noValidate onSubmit={(event) => void save(event)}>
      <Field error={errorOf('name')} label={<Trans>Name</Trans>} optional>
        <Input maxLength={100} onChange={set('name')} value={typed.name} />
      </Field>
      {operator && (
        <Field error={errorOf('email')} label={<Trans>Email</Trans>} optional>
          <Input inputMode="email" maxLength={254} onChange={set('email')} value={typed.email} />
        </Field>
      )}
      <Field
        error={errorOf('labels')}
        hint={<Trans>Put commas between labels.</Trans>}
        label={<Trans>Labels</Trans>}
        optional
      >
        <Input maxLength={420} onChange={set('labels')} value={typed.labels} />
      </Field>
      <Field error={errorOf('note')} label={<Trans>Note</Trans>} optional>
        <TextArea maxLength={2000} onChange={set('note')} value={typed.note} />
      </Field>
      {problem !== undefined && (
        <Banner role="alert" tone="bad">
          {joinMessage({ title: describeError(problem).title, body: t`Change not saved.` })}
        </Banner>
      )}
      {operator && (
        <Button busy={busy} className="justify-self-start" disabled={!changed} type="submit">
          <Trans>Save</Trans>
        </Button>
      )}
    </form>
  )
}

/** Only what was typed: another person may have changed the rest meanwhile. */
function changeOf(start: Typed, { name, email, labels, note }: Typed): ProfileUpdate {
  const words = labels.split(',').map((label) => label.trim())
  return {
    ...(name !== start.name && { name }),
    ...(email !== start.email && { email: email.trim() === '' ? null : email.trim() }),
    ...(labels !== start.labels && { labels: words.filter((label) => label !== '') }),
    ...(note !== start.note && { note }),
  }
}

/** What the proxy says of a field, or of a part of it: `labels.2`. */
function detailOf({ details }: ApiError, name: string): string | undefined {
  const [, text] =
    Object.entries(details).find(([field]) => field === name || field.startsWith(`${name}.`)) ?? []
  return typeof text === 'string' ? text : undefined
}

/** The customer's right to their data: a copy of it, and its deletion. */
export function DataCard({ wallet }: { wallet: string }) {
  const { t } = useLingui()
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)

  async function run(work: () => Promise<void>, done: string) {
    setBusy(true)
    try {
      await work()
      toast(done)
      setAsking(false)
    } catch (error) {
      const { title, body } = describeError(error)
      toast(title, { tone: 'warn', body })
    } finally {
      setBusy(false)
    }
  }

  return (
    <ForRole least="operator">
      <Card title={<Trans>Personal data</Trans>}>
        <div className="mt-2 flex flex-wrap gap-2">
          <Button
            busy={busy && !asking}
            icon={<Icon name="download" />}
            onClick={() => void run(() => download(wallet), t`Personal data exported`)}
            size="sm"
          >
            <Trans>Export as JSON</Trans>
          </Button>
          <ForRole least="owner">
            <Button onClick={() => setAsking(true)} size="sm" variant="quiet">
              <Trans>Delete personal data</Trans>
            </Button>
          </ForRole>
        </div>
        {asking && (
          <Dialog
            footer={
              <>
                <Button onClick={() => setAsking(false)}>
                  <Trans>Cancel</Trans>
                </Button>
                <Button
                  busy={busy}
                  onClick={() => void run(() => deleteProfile(wallet), t`Personal data deleted`)}
                  variant="danger"
                >
                  <Trans>Delete personal data</Trans>
                </Button>
              </>
            }
            onClose={() => setAsking(false)}
            open
            size="sm"
            title={<Trans>Delete personal data</Trans>}
          >
            <p className="text-sm">
              <Trans>Name, emails, labels and note are permanently deleted.</Trans>
            </p>
            <p className="mt-2 text-sm">
              <Trans>
                All invoices of this customer lose name, email and address. Issued ones keep lines
                and notes.
              </Trans>
            </p>
            <p className="mt-2 text-sm text-muted">
              <Trans>Payments, their notes and audit log entries stay.</Trans>
            </p>
          </Dialog>
        )}
      </Card>
    </ForRole>
  )
}

async function download(walletAddress: string): Promise<void> {
  const data = await callProxy('profileExport', { body: { walletAddress } })
  saveFile(
    new Blob([`${stringifyJson(data)}\n`], { type: 'application/json' }),
    `customer-${walletAddress}.json`,
  )
}

import { useQuery } from '@tanstack/react-query'
import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState, type FormEvent } from 'react'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { labelsQuery, notesQuery, writeNotes, type NoteUpdate } from '../../api/notes.ts'
import { useRole, useSession } from '../../api/session.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

/** What the reader's side writes beside a payment: labels, a note, the mark of the books. The payer never sees it. */
export function NoteCard({ paymentId }: { paymentId: string }) {
  const { t } = useLingui()
  const session = useSession()
  const role = useRole()
  const signedIn = session.kind === 'known' && session.viewer !== null
  const { data, error, refetch } = useQuery({ ...notesQuery([paymentId]), enabled: signedIn })
  const [problem, setProblem] = useState<unknown>()
  if (!signedIn) return null

  async function change(what: NoteUpdate): Promise<boolean> {
    setProblem(undefined)
    try {
      await writeNotes([paymentId], what)
      await refetch()
      return true
    } catch (error_) {
      setProblem(error_)
      return false
    }
  }

  const note = data?.get(paymentId)
  return (
    // The page is printed as a receipt for the payer.
    <Card
      className="no-print"
      subtitle={<Trans>Visible to your team and in exports.</Trans>}
      title={<Trans>Your notes</Trans>}
    >
      {data ? (
        <fieldset className="grid gap-4" disabled={role === 'viewer'}>
          <LabelList labels={note?.labels ?? []} onChange={change} />
          <NoteForm note={note?.note ?? ''} onChange={change} />
          <Checkbox
            checked={typeof note?.reconciledAt === 'number'}
            hint={note?.reconciledAt ? <Time at={note.reconciledAt} /> : undefined}
            label={<Trans>Reconciled</Trans>}
            onChange={(event) => void change({ reconciled: event.target.checked })}
          />
        </fieldset>
      ) : error ? (
        <p className="text-sm text-muted">{describeError(error).title}</p>
      ) : (
        <Skeleton className="h-24" />
      )}
      {problem !== undefined && (
        <Banner className="mt-4" role="alert" tone="bad">
          {joinMessage({ title: describeError(problem).title, body: t`Change not saved.` })}
        </Banner>
      )}
    </Card>
  )
}

type Change = (what: NoteUpdate) => Promise<boolean>

function LabelList({ labels, onChange }: { labels: readonly string[]; onChange: Change }) {
  const { t } = useLingui()
  const list = useId()
  const { data: known = [] } = useQuery(labelsQuery)
  const [typed, setTyped] = useState('')
  const wrong = /[,\p{Cc}]/u.test(typed)
  async function add(event: FormEvent) {
    event.preventDefault()
    if (wrong || typed.trim() === '') return
    if (await onChange({ addLabels: [typed.trim()] })) setTyped('')
  }
  return (
    <div>
      {labels.length > 0 && (
        <ul aria-label={t`Labels`} className="mb-3 flex flex-wrap gap-2">
          {labels.map((label) => (
            <li key={label}>
              <button
                aria-label={t`Remove ${{ name: label }}`}
                className="touch-target inline-flex h-7 items-center gap-1 rounded-full border border-line bg-sunken ps-2.5 pe-1.5 text-xs hover:bg-hover"
                onClick={() => void onChange({ removeLabels: [label] })}
                type="button"
              >
                <UntrustedText text={label} />
                <Icon className="text-muted" name="cross" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form className="flex items-end gap-2" onSubmit={(event) => void add(event)}>
        <Field
          className="flex-1"
          error={wrong ? <Trans>Remove the comma.</Trans> : undefined}
          label={<Trans>Label</Trans>}
        >
          <Input
            list={list}
            maxLength={40}
            onChange={(event) => setTyped(event.target.value)}
            value={typed}
          />
        </Field>
        <Button disabled={typed.trim() === ''} type="submit">
          <Trans>Add</Trans>
        </Button>
        <datalist id={list}>
          {known.map(({ label }) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </datalist>
      </form>
    </div>
  )
}

function NoteForm({ note, onChange }: { note: string; onChange: Change }) {
  /** Undefined until the reader types: then the text follows what is saved. */
  const [typed, setTyped] = useState<string>()
  const [busy, setBusy] = useState(false)
  const text = typed ?? note
  async function save(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    // What was typed meanwhile stays.
    if (await onChange({ note: text })) setTyped((now) => (now === text ? undefined : now))
    setBusy(false)
  }
  return (
    <form onSubmit={(event) => void save(event)}>
      <Field label={<Trans>Note</Trans>}>
        <TextArea
          maxLength={2000}
          onChange={(event) => setTyped(event.target.value)}
          value={text}
        />
      </Field>
      {text !== note && (
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={() => setTyped(undefined)} size="sm" variant="quiet">
            <Trans>Discard</Trans>
          </Button>
          <Button busy={busy} size="sm" type="submit">
            <Trans>Save</Trans>
          </Button>
        </div>
      )}
    </form>
  )
}

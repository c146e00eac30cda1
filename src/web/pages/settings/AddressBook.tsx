import { t, plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, useRef, useId } from 'react'
import { familyOf, type Network } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import {
  type Entry,
  MAX_NAME,
  readEntry,
  type EntryProblem,
} from '../../local-data/address-book/entry.ts'
import { exportAddresses, importAddresses } from '../../local-data/address-book/exchange.ts'
import { findLookAlike } from '../../local-data/address-book/look-alike.ts'
import {
  removeEntry,
  useAddressBook,
  getAddressBook,
  replaceAll,
  findEntry,
  saveEntry,
} from '../../local-data/address-book/store.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { toast } from '../../ui/Toast.tsx'
import { WrappedInput } from '../../ui/WrappedInput.tsx'

/** Names for the addresses this reader pays. They are kept in this browser and sent to nobody. */
export function AddressBook() {
  const { networks } = useConfig()
  const entries = useAddressBook()
  /** The entry in the dialog; `new` for one that is not there yet. */
  const [open, setOpen] = useState<Entry | 'new'>()

  function remove(entry: Entry) {
    const { name } = entry
    toast(t`${name} removed`, { undo: removeEntry(entry.address) })
  }

  return (
    <Card
      action={
        entries.length > 0 && (
          <Button onClick={() => setOpen('new')} size="sm">
            <Trans>Add an address</Trans>
          </Button>
        )
      }
      subtitle={<Trans>Suggested at checkout.</Trans>}
      title={<Trans>Address book</Trans>}
    >
      {entries.length === 0 ? (
        <EmptyState
          action={
            <Button onClick={() => setOpen('new')}>
              <Trans>Add an address</Trans>
            </Button>
          }
          icon="wallet"
          title={<Trans>Nothing yet</Trans>}
        >
          <Trans>Check addresses with their owners.</Trans>
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line">
          {entries.map((entry) => (
            <li className="flex items-start gap-3 py-3 first:pt-0" key={entry.address}>
              <div className="min-w-0 flex-1">
                <p className="text-sm font-medium">
                  {entry.name}{' '}
                  <span className="font-normal text-muted">{placeOf(entry, networks)}</span>
                </p>
                <Address copy full value={entry.address} />
              </div>
              <Button
                aria-label={editLabel(entry)}
                onClick={() => setOpen(entry)}
                size="sm"
                variant="quiet"
              >
                <Trans>Edit</Trans>
              </Button>
              <IconButton
                icon={<Icon name="cross" />}
                label={removeLabel(entry)}
                onClick={() => remove(entry)}
                size="sm"
              />
            </li>
          ))}
        </ul>
      )}
      <AddressFile />
      {open && (
        <EntryDialog entry={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />
      )}
    </Card>
  )
}

function editLabel({ name }: Entry): string {
  return t`Edit ${name}`
}

function removeLabel({ name }: Entry): string {
  return t`Remove ${name}`
}

function placeOf(entry: Entry, networks: readonly { network: string; name: string }[]): string {
  if (entry.networks.length === 0) return entry.family === 'evm' ? 'Ethereum' : 'Solana'
  return entry.networks
    .map((id) => networks.find(({ network }) => network === id)?.name ?? id)
    .join(', ')
}

const MAX_BYTES = 1024 * 1024

/**
 * Exports and imports the address book as a file. An import reports its counts and can be undone.
 */
function AddressFile() {
  const { t } = useLingui()
  const entries = useAddressBook()
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string>()

  async function read(file: File) {
    const result =
      file.size <= MAX_BYTES
        ? importAddresses(await file.text(), getAddressBook())
        : { ok: false as const }
    if (!result.ok) return setProblem(t`Not an address book. Nothing was changed.`)
    const { entries: next, added, changed, refused } = result.result
    const lines = refused.map(({ line }) => line).join(', ')
    setProblem(
      refused.length > 0
        ? t`${plural(refused.length, { one: '# entry of the file could not be read and was left out', other: '# entries of the file could not be read and were left out' })}: ${lines}.`
        : undefined,
    )
    const undo = replaceAll(next)
    toast(
      t`${plural(added, { one: '# address added', other: '# addresses added' })}, ${plural(changed, { one: '# changed', other: '# changed' })}.`,
      { undo },
    )
  }

  return (
    <div className="mt-5">
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => input.current?.click()} size="sm">
          <Trans>Import</Trans>
        </Button>
        {entries.length > 0 && (
          <Button onClick={() => download(exportAddresses(entries))} size="sm">
            <Trans>Export</Trans>
          </Button>
        )}
      </div>
      <input
        accept="application/json,.json"
        aria-label={t`Import`}
        className="sr-only"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          if (file) void read(file)
        }}
        ref={input}
        tabIndex={-1}
        type="file"
      />
      {problem && (
        <Banner className="mt-3" role="alert" tone="warn">
          {problem}
        </Banner>
      )}
    </div>
  )
}

function download(text: string): void {
  saveFile(new Blob([text], { type: 'application/json' }), 'paydesk-address-book.json')
}

/** Adds an entry, or changes one. An address that only looks like a known one is named before it is kept. */
function EntryDialog({ entry, onClose }: { entry: Entry | undefined; onClose: () => void }) {
  const formId = useId()
  const { networks } = useConfig()
  const [name, setName] = useState(entry?.name ?? '')
  const [address, setAddress] = useState(entry?.address ?? '')
  const [only, setOnly] = useState<readonly string[]>(entry?.networks ?? [])
  const [submitted, setSubmitted] = useState(false)

  const read = readEntry({ name, address, networks: only })
  const problem = submitted && !read.ok ? read.problem : undefined
  const known =
    read.ok && read.entry.address !== entry?.address ? findEntry(read.entry.address) : undefined
  const twin = read.ok
    ? findLookAlike(
        read.entry.address,
        getAddressBook().filter((each) => each.address !== entry?.address),
      )
    : undefined
  const offered = read.ok
    ? networks.filter(({ network }) => familyOf(network) === read.entry.family)
    : []

  function save() {
    setSubmitted(true)
    if (!read.ok || known) return
    if (entry && entry.address !== read.entry.address) removeEntry(entry.address)
    saveEntry(read.entry)
    onClose()
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button form={formId} type="submit" variant="primary">
            <Trans>Save</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      title={entry ? <Trans>Edit</Trans> : <Trans>Add an address</Trans>}
    >
      <form
        className="space-y-4"
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <Field error={problem === 'no_name' && t`Enter a name.`} label={<Trans>Name</Trans>}>
          <Input
            maxLength={MAX_NAME}
            onChange={(event) => setName(event.target.value)}
            value={name}
          />
        </Field>
        <Field error={addressProblem(problem, known)} label={<Trans>Address</Trans>}>
          <WrappedInput
            onChange={(event) => setAddress(event.target.value.replace(/\s/g, ''))}
            value={address}
          />
        </Field>
        {twin && (
          <Banner
            title={<Trans>This resembles {{ known: twin.name }}. Compare every character.</Trans>}
            tone="warn"
          >
            <Address full value={twin.address} />
          </Banner>
        )}
        {offered.length > 1 && <NetworkChoice networks={offered} onChange={setOnly} only={only} />}
      </form>
    </Dialog>
  )
}

type NetworkChoiceProps = {
  networks: readonly Network[]
  only: readonly string[]
  onChange: (only: readonly string[]) => void
}

/** Where an entry may be paid; all of them are none in particular. */
function NetworkChoice({ networks, only, onChange }: NetworkChoiceProps) {
  function set(network: string, on: boolean) {
    const others = (only.length === 0 ? networks.map((each) => each.network) : only).filter(
      (each) => each !== network,
    )
    const next = on ? [...others, network] : others
    onChange(next.length === networks.length ? [] : next)
  }
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1.5 text-sm font-medium">
        <Trans>Networks</Trans>
      </legend>
      {networks.map(({ network, name }) => (
        <Checkbox
          checked={only.length === 0 || only.includes(network)}
          key={network}
          label={name}
          onChange={(event) => set(network, event.target.checked)}
        />
      ))}
    </fieldset>
  )
}

function addressProblem(
  problem: EntryProblem | undefined,
  known: Entry | undefined,
): string | undefined {
  if (known) {
    const { name } = known
    return t`Already saved as ${name}.`
  }
  if (problem === 'bad_checksum') return t`Wrong checksum. Copy it again.`
  return problem === 'not_an_address' || problem === 'not_an_entry'
    ? t`Paste the whole address.`
    : undefined
}

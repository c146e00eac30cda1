import { t, plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, useRef } from 'react'
import { useConfig } from '../../api/use-config.ts'
import type { Entry } from '../../local-data/address-book/entry.ts'
import { exportAddresses, importAddresses } from '../../local-data/address-book/exchange.ts'
import {
  removeEntry,
  useAddressBook,
  getAddressBook,
  replaceAll,
} from '../../local-data/address-book/store.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/Toast.tsx'
import { EntryDialog } from './EntryDialog.tsx'

/** Names for the addresses this reader pays. They stand in this browser and are told to nobody. */
export function AddressBook() {
  const { networks } = useConfig()
  const entries = useAddressBook()
  /** The entry in the dialog; `new` for one that is not there yet. */
  const [open, setOpen] = useState<Entry | 'new'>()

  function remove(entry: Entry) {
    const { name } = entry
    toast(t`${name} was removed.`, { undo: removeEntry(entry.address) })
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
      subtitle={<Trans>Suggested at checkout, with warnings of similar addresses.</Trans>}
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
          title={<Trans>No saved addresses</Trans>}
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
          <Trans>Import a file</Trans>
        </Button>
        {entries.length > 0 && (
          <Button onClick={() => download(exportAddresses(entries))} size="sm">
            <Trans>Export</Trans>
          </Button>
        )}
      </div>
      <input
        accept="application/json,.json"
        aria-label={t`Address book file`}
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
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'paydesk-address-book.json'
  link.click()
  URL.revokeObjectURL(url)
}

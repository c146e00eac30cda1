import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { removeEntry, useAddressBook } from '../../local-data/address-book/store.ts'
import type { Entry } from '../../local-data/address-book/entry.ts'
import { useConfig } from '../../api/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/Toast.tsx'
import { AddressFile } from './AddressFile.tsx'
import { EntryDialog } from './EntryDialog.tsx'

/** Names for the addresses this reader pays. They stand in this browser and are told to nobody. */
export function AddressBook() {
  const { networks } = useConfig()
  const entries = useAddressBook()
  /** The entry in the dialog; `new` for one that is not there yet. */
  const [open, setOpen] = useState<Entry | 'new'>()

  function remove(entry: Entry) {
    const { name } = entry
    toast(t`${name} is no longer in the address book.`, { undo: removeEntry(entry.address) })
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
      subtitle={
        <Trans>
          The checkout offers these names and warns of addresses that only look like them.
        </Trans>
      }
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
          title={<Trans>Nobody is in your address book yet</Trans>}
        >
          <Trans>
            Give an address a name once it has been checked with its owner. From then on you choose
            the name.
          </Trans>
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

import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { familyOf, type Network } from '#contract/network.ts'
import {
  MAX_NAME,
  readEntry,
  type Entry,
  type EntryProblem,
} from '../../local-data/address-book/entry.ts'
import { findLookAlike } from '../../local-data/address-book/look-alike.ts'
import {
  findEntry,
  getAddressBook,
  removeEntry,
  saveEntry,
} from '../../local-data/address-book/store.ts'
import { useConfig } from '../../api/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { WrappedInput } from '../../ui/WrappedInput.tsx'

/** Adds an entry, or changes one. An address that only looks like a known one is named before it is kept. */
export function EntryDialog({ entry, onClose }: { entry: Entry | undefined; onClose: () => void }) {
  const formId = useId()
  const { networks } = useConfig()
  const [name, setName] = useState(entry?.name ?? '')
  const [address, setAddress] = useState(entry?.address ?? '')
  const [only, setOnly] = useState<readonly string[]>(entry?.networks ?? [])
  const [asked, setAsked] = useState(false)

  const read = readEntry({ name, address, networks: only })
  const problem = asked && !read.ok ? read.problem : undefined
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
    setAsked(true)
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
      title={entry ? <Trans>Edit entry</Trans> : <Trans>Add an address</Trans>}
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
          <Banner title={<Trans>This resembles the address of {twin.name}</Trans>} tone="warn">
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

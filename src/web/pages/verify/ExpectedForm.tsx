import { Trans } from '@lingui/react/macro'
import { useConfig } from '../../api/use-config.ts'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { WrappedInput } from '../../ui/WrappedInput.tsx'
import { Select } from '../../ui/Select.tsx'
import { familyOf, nativeAsset } from '#contract/network.ts'
import type { ExpectedFields, ExpectedProblems } from './expected.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'

export type ExpectedFormProps = {
  fields: ExpectedFields
  problems: ExpectedProblems
  onChange: (fields: ExpectedFields) => void
  /** For many proofs each names its own resource. */ many?: boolean
}

/** What the reader expected to be paid. */
export function ExpectedForm({ fields, problems, onChange, many }: ExpectedFormProps) {
  const { networks } = useConfig()
  const network = networks.find((each) => each.network === fields.network)
  const set = (change: Partial<ExpectedFields>) => onChange({ ...fields, ...change })
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field error={problems.network} label={<Trans>Network</Trans>}>
        <Select
          onChange={(event) => {
            const next = networks.find((each) => each.network === event.target.value)
            set({ network: event.target.value, asset: next ? nativeAsset(next).address : '' })
          }}
          value={fields.network}
        >
          {networks.map(({ network: id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      <Field error={problems.asset} label={<Trans>Currency</Trans>}>
        <Select onChange={(event) => set({ asset: event.target.value })} value={fields.asset}>
          {network?.assets.map(({ address, symbol, name }) => (
            <option key={address} value={address}>
              {symbol} · {name}
            </option>
          ))}
        </Select>
      </Field>
      <Field
        className="sm:col-span-2"
        error={problems.wallet}
        label={<Trans>Receiving wallet</Trans>}
      >
        <WrappedInput
          onChange={(event) => set({ wallet: event.target.value })}
          value={fields.wallet}
        />
      </Field>
      <Field error={problems.amount} label={<Trans>Expected amount</Trans>}>
        <Input
          inputMode="decimal"
          onChange={(event) => set({ amount: event.target.value })}
          value={fields.amount}
        />
      </Field>
      {!many && (
        <Field error={problems.resource} label={<Trans>Resource</Trans>} optional>
          <Input
            mono
            onChange={(event) => set({ resource: event.target.value })}
            value={fields.resource}
          />
        </Field>
      )}
      {!many && network && familyOf(network.network) === 'solana' && (
        <Field className="sm:col-span-2" label={<Trans>Memo</Trans>} optional>
          <Input mono onChange={(event) => set({ memo: event.target.value })} value={fields.memo} />
        </Field>
      )}
      {!many && (
        <Disclosure
          className="sm:col-span-2"
          open={problems.facilitator !== undefined || problems.timeout !== undefined || undefined}
          label={<Trans>Facilitator and timeout, for accepting</Trans>}
        >
          <div className="mt-3 grid gap-4 sm:grid-cols-2">
            <Field error={problems.facilitator} label={<Trans>Facilitator</Trans>} optional>
              <Input
                inputMode="url"
                mono
                onChange={(event) => set({ facilitator: event.target.value })}
                placeholder="https://"
                value={fields.facilitator}
              />
            </Field>
            <Field error={problems.timeout} label={<Trans>Timeout in seconds</Trans>}>
              <Input
                inputMode="numeric"
                onChange={(event) => set({ timeout: event.target.value })}
                value={fields.timeout}
              />
            </Field>
          </div>
        </Disclosure>
      )}
    </div>
  )
}

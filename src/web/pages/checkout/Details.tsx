import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { familyOf, nativeAsset } from '#contract/network.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import { useSearch } from '../../router/use-route.ts'
import { useConfig } from '../../shell/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Select } from '../../ui/Select.tsx'
import { openConnectDialog, useAccounts } from '../../wallet/accounts.ts'
import { AmountField } from './AmountField.tsx'
import { balanceQuery } from './balance.ts'
import { checkAmount, checkRecipient, type Fields } from './fields.ts'
import { orderOf, recipientOn, reserveOf, startValues } from './start-values.ts'
import { FromAccount } from './FromAccount.tsx'
import { MoreFields } from './MoreFields.tsx'
import { RecipientField } from './RecipientField.tsx'
import { Steps } from './Steps.tsx'

export type DetailsProps = {
  /** A payment that is changed: its inputs are kept. */
  previous: PaymentOrder | undefined
  /** The network of the payment before this one. */
  network: string | undefined
  onStart: (order: PaymentOrder) => Promise<void>
}

/** Step 1: who gets how much, on which network. Nothing is asked of a wallet or a network but a balance. */
export function Details({ previous, network: networkBefore, onStart }: DetailsProps) {
  const { networks, sellerWallets } = useConfig()
  const search = useSearch('checkout')
  const accounts = useAccounts()
  const { register, handleSubmit, control, getValues, setValue, formState } = useForm<Fields>({
    defaultValues: startValues(previous, { ...search, network: networkBefore ?? search.network }, { networks, sellerWallets }),
  })
  const [networkId, recipient, amount] = useWatch({ control, name: ['network', 'recipient', 'amount'] })
  const [trouble, setTrouble] = useState<string>()

  const network = networks.find((each) => each.network === networkId) ?? networks[0]
  const account = accounts.find((each) => network && each.family === familyOf(network.network))
  const balance = useQuery(balanceQuery(network, account?.address))
  if (!network) return <Banner tone="bad">This desk has no network to pay on. Its operator has to configure one.</Banner>
  const asset = nativeAsset(network)
  const reserve = reserveOf(network)
  const { errors } = formState

  async function submit(fields: Fields) {
    if (!network || !account) return openConnectDialog(network && familyOf(network.network))
    setTrouble(undefined)
    try {
      await onStart(orderOf(fields, network, account))
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : 'unknown reason')
    }
  }

  return (
    <>
      <Steps current="details" />
      <Card>
        <form className="space-y-5" noValidate onSubmit={(event) => void handleSubmit(submit)(event)}>
          {trouble && (
            <Banner role="alert" title="This browser cannot start a payment" tone="bad">
              {trouble} Payments are kept in this browser until they are settled; a private window may not allow that. Nothing was sent.
            </Banner>
          )}
          {networks.length > 1 && (
            <Field label="Network">
              <Select {...register('network', { onChange: () => setValue('recipient', recipientOn(networks, getValues(), sellerWallets)) })}>
                {networks.map((each) => (
                  <option key={each.network} value={each.network}>
                    {each.name} · {nativeAsset(each).symbol}
                  </option>
                ))}
              </Select>
            </Field>
          )}
          <FromAccount account={account} balanceAtomic={balance.data} loading={balance.isLoading} network={network} unreadable={balance.isError} />
          <RecipientField
            error={errors.recipient?.message}
            network={network}
            onSuggest={(address) => setValue('recipient', address, { shouldValidate: true })}
            register={register('recipient', { validate: (text) => checkRecipient(text, network, account?.address) })}
            sellerWallets={sellerWallets}
            value={recipient}
          />
          <AmountField
            asset={asset}
            error={errors.amount?.message}
            maxAtomic={balance.data === undefined ? undefined : balance.data > reserve ? balance.data - reserve : 0n}
            onMax={(text) => setValue('amount', text, { shouldValidate: true })}
            register={register('amount', { validate: (text) => checkAmount(text, asset, balance.data) })}
            value={amount}
          />
          <MoreFields asset={asset} errors={errors} register={register} />
          {account ? (
            <Button busy={formState.isSubmitting} size="lg" type="submit" variant="primary" wide>
              Review payment
            </Button>
          ) : (
            <Button icon={<Icon name="wallet" />} onClick={() => openConnectDialog(familyOf(network.network))} size="lg" variant="primary" wide>
              Connect a wallet to pay
            </Button>
          )}
          <p className="text-center text-sm text-muted">You see exactly what will be signed before your wallet opens.</p>
        </form>
      </Card>
    </>
  )
}

import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { useForm } from 'react-hook-form'
import { formatAmount } from '#contract/amount.ts'
import type { BalanceAlert } from '#contract/hosted-endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { cacheAlert } from '../../api/balances.ts'
import { callProxy } from '../../api/client.ts'
import { describeError } from '../../errors/codes.ts'
import { checkAmount, readAmount, writeAmount } from '../../payment-flow/form/fields.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { toast } from '../../ui/Toast.tsx'

type AlertDialogProps = {
  network: Network
  wallet: string
  alert: BalanceAlert | undefined
  onClose: () => void
}

/** Below which balance the overview warns about a managed wallet. */
export function AlertDialog({ network, wallet, alert, onClose }: AlertDialogProps) {
  const { t } = useLingui()
  const native = nativeAsset(network)
  const form = useForm<{ threshold: string }>({
    defaultValues: {
      threshold: alert ? writeAmount(BigInt(alert.thresholdAtomic), native.decimals) : '',
    },
  })
  const { register, formState } = form
  const [userError, setUserError] = useState<{ title: string; body: string }>()
  const id = useId()

  async function submit({ threshold }: { threshold: string }) {
    setUserError(undefined)
    const read = readAmount(threshold, native)
    const at = { wallet, network: network.network }
    try {
      const { alert: stored } = await callProxy('balanceAlert', {
        body: {
          walletAddress: wallet,
          network: network.network,
          threshold: read.ok
            ? new LosslessNumber(formatAmount(read.atomic, native.decimals))
            : null,
        },
      })
      cacheAlert(at, stored)
      toast(t`Saved`)
      onClose()
    } catch (error) {
      setUserError(describeError(error))
    }
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={formState.isSubmitting} form={id} type="submit" variant="primary">
            <Trans>Save</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="sm"
      title={t`Set alert`}
    >
      <form
        className="space-y-5"
        id={id}
        noValidate
        onSubmit={(event) => void form.handleSubmit(submit)(event)}
      >
        {userError && (
          <Banner role="alert" title={userError.title} tone="warn">
            {userError.body}
          </Banner>
        )}
        <Field
          error={formState.errors.threshold?.message}
          hint={<Trans>Empty: no alert.</Trans>}
          label={t`Alert below`}
        >
          <Input
            inputMode="decimal"
            suffix={native.symbol}
            {...register('threshold', {
              validate: (text) => text.trim() === '' || checkAmount(text, native),
            })}
          />
        </Field>
      </form>
    </Dialog>
  )
}

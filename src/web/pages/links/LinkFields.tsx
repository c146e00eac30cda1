import { useLingui } from '@lingui/react/macro'
import { useWatch, type UseFormReturn } from 'react-hook-form'
import { shortAddress } from '#contract/known-address.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { returnAddress } from '#contract/payment-link.ts'
import { useConfig } from '../../api/use-config.ts'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { checkAmount, checkResource } from '../../payment-flow/form/fields.ts'
import { sellersOn } from '../../payment-flow/form/start-values.ts'
import type { LinkForm } from './link-form.ts'

export type LinkFieldsProps = {
  form: UseFormReturn<LinkForm>
  payable: readonly Network[]
  network: Network
  asset: Asset
}

/** What a link asks for. */
export function LinkFields({ form, payable, network, asset }: LinkFieldsProps) {
  const { t } = useLingui()
  const { sellerWallets } = useConfig()
  const { register, control, setValue, formState } = form
  const { errors } = formState
  const uses = useWatch({ control, name: 'uses' })

  function changeNetwork(next: Network | undefined) {
    if (!next) return
    setValue('recipient', sellersOn(next, sellerWallets)[0] ?? '')
    setValue('asset', nativeAsset(next).address)
  }

  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field error={errors.network?.message} label={t`Network`}>
          <Select
            {...register('network', {
              onChange: (event) =>
                changeNetwork(payable.find((each) => each.network === event.target.value)),
            })}
          >
            {payable.map((each) => (
              <option key={each.network} value={each.network}>
                {each.name}
              </option>
            ))}
          </Select>
        </Field>
        <Field error={errors.recipient?.message} label={t`Into the wallet`}>
          <Select {...register('recipient')}>
            {sellersOn(network, sellerWallets).map((seller) => (
              <option key={seller} value={seller}>
                {shortAddress(seller)}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          error={errors.amount?.message}
          hint={t`Empty: the buyer chooses.`}
          label={t`Amount`}
          optional
        >
          <Input
            inputMode="decimal"
            suffix={asset.symbol}
            {...register('amount', {
              validate: (text) => text.trim() === '' || checkAmount(text, asset, undefined),
            })}
          />
        </Field>
        <Field error={errors.asset?.message} label={t`Currency`}>
          <Select {...register('asset')}>
            {network.assets.map((each) => (
              <option key={each.address} value={each.address}>
                {each.symbol}
              </option>
            ))}
          </Select>
        </Field>
        <TextFields form={form} />
      </div>
      <div>
        <p aria-hidden className="mb-1.5 text-sm font-medium">
          {t`How often it can be paid`}
        </p>
        <Segmented
          label={t`How often it can be paid`}
          onChange={(value) => setValue('uses', value)}
          options={[
            { value: 'one', label: t`One payment` },
            { value: 'any', label: t`Any number` },
          ]}
          value={uses}
        />
      </div>
    </>
  )
}

/** In words: what it is for, how long it holds, and where it leads. */
function TextFields({ form }: { form: UseFormReturn<LinkForm> }) {
  const { t } = useLingui()
  const { register } = form
  const { errors } = form.formState
  const mark = '{PAYMENT_ID}'
  return (
    <>
      <Field
        className="sm:col-span-2"
        error={errors.description?.message}
        hint={t`What the payment is for. The buyer reads it first.`}
        label={t`Description`}
        optional
      >
        <Input maxLength={200} {...register('description')} />
      </Field>
      <Field
        error={errors.reference?.message}
        hint={t`Your order or invoice number.`}
        label={t`Reference`}
        optional
      >
        <Input maxLength={100} {...register('reference')} />
      </Field>
      <Field error={errors.lasts?.message} label={t`Good for`}>
        <Select {...register('lasts')}>
          <option value="hour">{t`One hour`}</option>
          <option value="day">{t`One day`}</option>
          <option value="week">{t`One week`}</option>
          <option value="month">{t`30 days`}</option>
          <option value="always">{t`No end`}</option>
        </Select>
      </Field>
      <Field
        error={errors.resource?.message}
        hint={t`The web address the payment unlocks.`}
        label={t`Resource`}
        optional
      >
        <Input
          inputMode="url"
          maxLength={500}
          placeholder="https://"
          {...register('resource', { validate: checkResource })}
        />
      </Field>
      <Field
        error={errors.returnUrl?.message}
        hint={t`A button on the receipt leads there. ${mark} in it becomes the payment’s id.`}
        label={t`Back to`}
        optional
      >
        <Input
          inputMode="url"
          maxLength={500}
          placeholder="https://"
          {...register('returnUrl', {
            validate: (text) =>
              text.trim() === '' ||
              returnAddress(text.trim(), 'x') !== undefined ||
              t`Enter a whole web address, with https://.`,
          })}
        />
      </Field>
    </>
  )
}

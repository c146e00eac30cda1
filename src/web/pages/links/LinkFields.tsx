import { t } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useWatch, type UseFormReturn } from 'react-hook-form'
import { shortAddress } from '#contract/known-address.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { returnAddress } from '#contract/payment-link.ts'
import { MOST_PIECES, RATE_DECIMALS } from '#contract/quote.ts'
import { useConfig } from '../../api/use-config.ts'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { checkAmount, checkResource } from '../../payment-flow/form/fields.ts'
import { currenciesOf, sellersOn } from '../../payment-flow/form/start-values.ts'
import { EVERY_NETWORK, type LinkForm } from './link-form.ts'

export type LinkFieldsProps = {
  form: UseFormReturn<LinkForm>
  payable: readonly Network[]
  /** Undefined: every network. */
  network: Network | undefined
  asset: Asset
}

/** What the merchant sets beside a product: its price and its name are the link's. */
export function ProductLinkFields({ form }: { form: UseFormReturn<LinkForm> }) {
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextFields described form={form} />
        <PiecesField form={form} priced />
      </div>
      <UsesField form={form} />
      <EmailField form={form} />
    </>
  )
}

/** What a link asks for. */
export function LinkFields({ form, payable, network, asset }: LinkFieldsProps) {
  const { t } = useLingui()
  const { sellerWallets, currencies } = useConfig()
  const { register, control, setValue, formState } = form
  const { errors } = formState
  const [amount, currency] = useWatch({ control, name: ['amount', 'asset'] })
  const choices = network
    ? network.assets.map(({ address, symbol }) => ({ value: address, symbol }))
    : currenciesOf(payable, currencies).map((symbol) => ({ value: symbol, symbol }))
  const symbol = network ? asset.symbol : currency
  const priced = network
    ? asset
    : { ...asset, symbol: currency, decimals: RATE_DECIMALS, native: false }

  function changeNetwork(next: Network | undefined) {
    if (!next) return setValue('asset', currenciesOf(payable, currencies)[0] ?? '')
    setValue('recipient', sellersOn(next, sellerWallets)[0] ?? '')
    setValue('asset', nativeAsset(next).address)
  }

  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          error={errors.amount?.message}
          hint={t`Leave empty to let the customer choose.`}
          label={t`Amount`}
          optional
        >
          <Input
            inputMode="decimal"
            suffix={symbol}
            {...register('amount', {
              validate: (text) => text.trim() === '' || checkAmount(text, priced),
            })}
          />
        </Field>
        <Field error={errors.asset?.message} label={t`Currency`}>
          <Select {...register('asset')}>
            {choices.map(({ value, symbol: name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <TextFields form={form} />
        <Field error={errors.network?.message} label={t`Network`}>
          <Select
            {...register('network', {
              onChange: (event) =>
                changeNetwork(payable.find((each) => each.network === event.target.value)),
            })}
          >
            <option value={EVERY_NETWORK}>{t`Any network`}</option>
            {payable.map((each) => (
              <option key={each.network} value={each.network}>
                {each.name}
              </option>
            ))}
          </Select>
        </Field>
        {network && (
          <Field error={errors.recipient?.message} label={t`Pay to`}>
            <Select {...register('recipient')}>
              {sellersOn(network, sellerWallets).map((seller) => (
                <option key={seller} value={seller}>
                  {shortAddress(seller)}
                </option>
              ))}
            </Select>
          </Field>
        )}
        <PiecesField form={form} priced={amount.trim() !== ''} />
      </div>
      <UsesField form={form} />
      <EmailField form={form} />
    </>
  )
}

type FormProps = { form: UseFormReturn<LinkForm> }

function PiecesField({ form: { register, formState }, priced }: FormProps & { priced: boolean }) {
  const { t } = useLingui()
  return (
    <Field error={formState.errors.pieces?.message} label={t`Maximum quantity`}>
      <Input
        inputMode="numeric"
        {...register('pieces', { validate: (text) => checkPieces(text, priced) })}
      />
    </Field>
  )
}

function UsesField({ form: { control, setValue } }: FormProps) {
  const { t } = useLingui()
  const uses = useWatch({ control, name: 'uses' })
  return (
    <div>
      <p aria-hidden className="mb-1.5 text-sm font-medium">
        {t`Number of payments`}
      </p>
      <Segmented
        label={t`Number of payments`}
        onChange={(value) => setValue('uses', value)}
        options={[
          { value: 'one', label: t`One payment` },
          { value: 'any', label: t`Any number` },
        ]}
        value={uses}
      />
    </div>
  )
}

function EmailField({ form: { register } }: FormProps) {
  const { t } = useLingui()
  return <Checkbox label={t`Ask for an email`} {...register('askEmail')} />
}

/** A whole number; more than one piece needs a price. */
function checkPieces(text: string, priced: boolean): string | true {
  const pieces = /^[0-9]{1,4}$/.test(text.trim()) ? Number(text) : 0
  if (pieces < 1 || pieces > MOST_PIECES) return t`Enter 1 to ${MOST_PIECES}.`
  return pieces === 1 || priced || t`Enter an amount.`
}

/** In words: what it is for, how long it holds, and where it leads. */
function TextFields({ form, described }: FormProps & { described?: boolean }) {
  const { t } = useLingui()
  const { register } = form
  const { errors } = form.formState
  const mark = '{PAYMENT_ID}'
  return (
    <>
      {!described && (
        <Field
          className="sm:col-span-2"
          error={errors.description?.message}
          label={t`Description`}
          optional
        >
          <Input maxLength={200} {...register('description')} />
        </Field>
      )}
      <Field
        error={errors.reference?.message}
        hint={t`Order or invoice number`}
        label={t`Reference`}
        optional
      >
        <Input maxLength={100} {...register('reference')} />
      </Field>
      <Field error={errors.lasts?.message} label={t`Expires`}>
        <Select {...register('lasts')}>
          <option value="hour">{t`1 hour`}</option>
          <option value="day">{t`1 day`}</option>
          <option value="week">{t`One week`}</option>
          <option value="month">{t`30 days`}</option>
          <option value="always">{t`Never`}</option>
        </Select>
      </Field>
      <Field error={errors.resource?.message} hint={t`URL to unlock`} label={t`Resource`} optional>
        <Input
          inputMode="url"
          maxLength={500}
          placeholder="https://"
          {...register('resource', { validate: checkResource })}
        />
      </Field>
      <Field
        error={errors.returnUrl?.message}
        hint={t`${mark} becomes the payment ID.`}
        label={t`Return URL`}
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
              t`Enter an address with https://.`,
          })}
        />
      </Field>
    </>
  )
}

import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  useFieldArray,
  useForm,
  useWatch,
  type FieldPath,
  type UseFormReturn,
} from 'react-hook-form'
import * as v from 'valibot'
import { day, MOST_LINES } from '#contract/invoice.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { RATE_DECIMALS } from '#contract/quote.ts'
import { callProxy } from '../../api/client.ts'
import { productsQuery } from '../../api/products.ts'
import { ApiError } from '../../api/errors.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { checkEmail, localDecimal, readAmount } from '../../payment-flow/form/fields.ts'
import { currenciesOf, payableNetworks } from '../../payment-flow/form/start-values.ts'
import { formatCalendarDay } from '../../payment-flow/format-calendar-day.ts'
import { InvoiceSums } from '../../payment-flow/InvoiceLines.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import {
  currencyOf,
  EMPTY_LINE,
  formOf,
  isNoTax,
  linesSoFar,
  requestOf,
  type InvoiceForm,
} from './invoice-form.ts'
import { cacheInvoice, customersQuery } from './invoice-queries.ts'

type FormProps = { form: UseFormReturn<InvoiceForm> }

/** To write an invoice, or to change a draft. Nothing is issued here. */
export function InvoiceDialog({
  draft,
  onClose,
  onSaved,
}: {
  draft: InvoiceBody | undefined
  onClose: () => void
  onSaved: (invoice: InvoiceBody) => void
}) {
  const { t } = useLingui()
  const config = useConfig()
  const currencies = currenciesOf(payableNetworks(config), config.currencies)
  const form = useForm<InvoiceForm>({
    defaultValues: formOf(draft, { currency: currencies[0] ?? '', timeZone: config.timeZone }),
  })
  const { register, formState, control } = form
  const [userError, setUserError] = useState<{ title: string; body: string }>()
  const [currency, dueOn] = useWatch({ control, name: ['currency', 'dueOn'] })
  const id = useId()

  async function submit(fields: InvoiceForm) {
    setUserError(undefined)
    try {
      const body = { ...requestOf(fields), ...(draft && { id: draft.id }) }
      const { invoice } = await callProxy('invoiceSave', { body })
      cacheInvoice(invoice)
      onSaved(invoice)
    } catch (error) {
      const named = error instanceof ApiError ? Object.entries(error.details) : []
      for (const [field, message] of named) {
        const input = field.replace(/^customer\./, '')
        if (isInput(input) && typeof message === 'string') form.setError(input, { message })
      }
      setUserError(describeError(error))
    }
  }

  return (
    <Dialog
      footer={
        <>
          <RunningTotal form={form} />
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={formState.isSubmitting} form={id} type="submit" variant="primary">
            <Trans>Save draft</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="lg"
      title={draft ? t`Edit draft` : t`New invoice`}
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
        <CustomerFields form={form} />
        <div className="grid gap-4 sm:grid-cols-2">
          {/* The browser writes the date as the system does: the month may be read as the day. */}
          <Field
            error={formState.errors.dueOn?.message}
            hint={v.is(day, dueOn) && formatCalendarDay(dueOn)}
            label={t`Due date`}
          >
            <Input
              type="date"
              {...register('dueOn', { validate: (text) => text !== '' || t`Enter a date.` })}
            />
          </Field>
          <Field error={formState.errors.currency?.message} label={t`Currency`}>
            <Select {...register('currency')}>
              {currencies.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </Select>
          </Field>
        </div>
        <Lines currency={currency} form={form} />
        <Field
          error={formState.errors.note?.message}
          hint={t`Printed on the invoice`}
          label={t`Note`}
          optional
        >
          <TextArea maxLength={1000} {...register('note')} />
        </Field>
      </form>
    </Dialog>
  )
}

/** What the server will count, from the same function, as far as lines are typed. */
function RunningTotal({ form: { control } }: FormProps) {
  const { t } = useLingui()
  const config = useConfig()
  const [code, typed] = useWatch({ control, name: ['currency', 'lines'] })
  const lines = linesSoFar(typed)
  if (!lines) return null
  return (
    <table aria-label={t`Total`} className="figures me-auto text-sm">
      <tbody>
        <InvoiceSums currency={currencyOf(config, code)} lines={lines} />
      </tbody>
    </table>
  )
}

function CustomerFields({ form: { register, setValue, formState } }: FormProps) {
  const { t } = useLingui()
  const { data: customers = [] } = useQuery(customersQuery)
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {customers.length > 0 && (
        <Field className="sm:col-span-2" label={t`Earlier customer`}>
          <Select
            defaultValue=""
            onChange={({ target }) => {
              const chosen = customers.find(({ id }) => id === target.value)
              setValue('name', chosen?.name ?? '')
              setValue('email', chosen?.email ?? '')
              setValue('address', chosen?.address ?? '')
            }}
          >
            <option value="">{t`New customer`}</option>
            {customers.map(({ id, name, email }) => (
              <option key={id} value={id}>
                {[name, email].filter(Boolean).join(' · ')}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <Field error={formState.errors.name?.message} label={t`Customer`} optional>
        <Input
          maxLength={200}
          {...register('name', {
            // Without one there is no customer, and what is typed below would be dropped.
            validate: (text, { email, address }) =>
              text.trim() !== '' || `${email}${address}`.trim() === '' || t`Enter a name.`,
          })}
        />
      </Field>
      <Field error={formState.errors.email?.message} label={t`Email`} optional>
        <Input inputMode="email" maxLength={254} {...register('email', { validate: checkEmail })} />
      </Field>
      <Field
        className="sm:col-span-2"
        error={formState.errors.address?.message}
        label={t`Address`}
        optional
      >
        <TextArea maxLength={500} {...register('address')} />
      </Field>
    </div>
  )
}

function Lines({ form, currency }: FormProps & { currency: string }) {
  const { t } = useLingui()
  const { control, register, formState } = form
  const { fields, append, remove } = useFieldArray({ control, name: 'lines' })
  const { data: products = [] } = useQuery(productsQuery)
  const offered = products.filter(
    ({ archivedAt, price }) => archivedAt === null && price.currency === currency,
  )
  return (
    <fieldset className="space-y-4">
      <legend className="mb-2 text-sm font-medium">
        <Trans>Lines</Trans>
      </legend>
      {fields.map((field, index) => {
        const errors = formState.errors.lines?.[index]
        const wrong = [errors?.name, errors?.quantity, errors?.unitPrice, errors?.taxPercent]
        return (
          <div className="rounded-lg border border-line p-3" key={field.id}>
            <div className="grid grid-cols-6 gap-3">
              <Field className="col-span-6 sm:col-span-6" label={t`Item`}>
                <Input
                  maxLength={200}
                  {...register(`lines.${index}.name`, {
                    validate: (text) => text.trim() !== '' || t`Enter a name.`,
                  })}
                />
              </Field>
              <Field className="col-span-2" label={t`Quantity`}>
                <Input
                  inputMode="decimal"
                  {...register(`lines.${index}.quantity`, { validate: checkDecimal(3) })}
                />
              </Field>
              <Field className="col-span-4 sm:col-span-2" label={t`Unit price before tax`}>
                <Input
                  inputMode="decimal"
                  suffix={currency}
                  {...register(`lines.${index}.unitPrice`, {
                    validate: checkDecimal(RATE_DECIMALS),
                  })}
                />
              </Field>
              <Field className="col-span-4 sm:col-span-2" label={t`Tax rate`} optional>
                <Input
                  inputMode="decimal"
                  suffix="%"
                  {...register(`lines.${index}.taxPercent`, {
                    validate: (text) => isNoTax(text) || checkDecimal(2)(text),
                  })}
                />
              </Field>
              {fields.length > 1 && (
                <IconButton
                  className="self-end"
                  icon={<Icon name="cross" />}
                  label={t`Remove`}
                  onClick={() => remove(index)}
                />
              )}
            </div>
            {wrong.map(
              (each, place) =>
                each?.message && (
                  <p className="mt-2 text-sm text-bad-ink" key={place} role="alert">
                    {each.message}
                  </p>
                ),
            )}
          </div>
        )
      })}
      {fields.length < MOST_LINES && (
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => append(EMPTY_LINE)}>
            <Trans>Add line</Trans>
          </Button>
          {offered.length > 0 && (
            <Select
              aria-label={t`Add a product`}
              onChange={({ target }) => {
                const product = offered.find(({ id }) => id === target.value)
                if (!product) return
                const unitPrice = localDecimal(product.price.amount)
                const line = { ...EMPTY_LINE, name: product.name, unitPrice }
                const [only] = form.getValues('lines')
                if (fields.length === 1 && only?.name === '' && only.unitPrice === '') remove(0)
                append(line)
              }}
              value=""
            >
              <option value="">{t`Add a product`}</option>
              {offered.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </div>
      )}
    </fieldset>
  )
}

const INPUT =
  /^(name|email|address|dueOn|currency|note|lines\.[0-9]+\.(name|quantity|unitPrice|taxPercent))$/

function isInput(field: string): field is FieldPath<InvoiceForm> {
  return INPUT.test(field)
}

function checkDecimal(decimals: number): (text: string) => string | true {
  return (text) =>
    readAmount(text, { decimals }).ok || t`Enter more than 0, up to ${decimals} decimals.`
}

import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { formatAmount } from '#contract/amount.ts'
import { MOST_IMAGE_BYTES } from '#contract/browser-rows.ts'
import type { ProductBody } from '#contract/product-endpoints.ts'
import { RATE_DECIMALS } from '#contract/quote.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { cacheProduct } from '../../api/products.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { ItemImage } from '../../payment-flow/ItemSummary.tsx'
import { localDecimal, readAmount } from '../../payment-flow/form/fields.ts'
import { currenciesOf, payableNetworks } from '../../payment-flow/form/start-values.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { toast } from '../../ui/Toast.tsx'

/** Pixels of each side, at most: the checkout shows a quarter of it. */
const SIDE = 320
const QUALITIES = [0.85, 0.6, 0.4]

/**
 * Draws a picture again, small: what a camera writes beside it, such as the place, is not sent.
 * @returns base64, or undefined where the browser cannot read the file
 */
async function shrinkImage(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (!picture) return undefined
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  for (const quality of QUALITIES) {
    const blob = await encode(canvas, quality)
    if (blob && blob.size <= MOST_IMAGE_BYTES) return base64Of(blob)
  }
  return undefined
}

/** WebP where the browser writes it, PNG otherwise. */
function encode(canvas: HTMLCanvasElement, quality: number): Promise<Blob | null> {
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', quality))
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

type ProductForm = { name: string; description: string; amount: string; currency: string }

/** Undefined: the picture stays as it is; null: none; otherwise a new one in base64. */
type Picture = string | null | undefined

/** To create a product, or to change one. */
export function ProductDialog({
  product,
  onClose,
}: {
  product: ProductBody | undefined
  onClose: () => void
}) {
  const { t } = useLingui()
  const config = useConfig()
  const choices = currenciesOf(payableNetworks(config), config.currencies)
  const form = useForm<ProductForm>({
    defaultValues: {
      name: product?.name ?? '',
      description: product?.description ?? '',
      amount: localDecimal(product?.price.amount ?? ''),
      currency: product?.price.currency ?? choices[0] ?? '',
    },
  })
  const { register, control, formState } = form
  const currency = useWatch({ control, name: 'currency' })
  const [picture, setPicture] = useState<Picture>()
  const [userError, setUserError] = useState<{ title: string; body: string }>()
  const id = useId()

  async function submit({ name, description, amount, currency: priced }: ProductForm) {
    setUserError(undefined)
    const read = readAmount(amount, { decimals: RATE_DECIMALS })
    const fields = {
      name: name.trim(),
      ...(description.trim() && { description: description.trim() }),
      price: { currency: priced, amount: read.ok ? formatAmount(read.atomic, RATE_DECIMALS) : '' },
    }
    try {
      const { product: stored } = product
        ? await callProxy('productUpdate', {
            body: { id: product.id, ...fields, ...(picture !== undefined && { image: picture }) },
          })
        : await callProxy('productCreate', {
            body: { ...fields, ...(picture && { image: picture }) },
          })
      cacheProduct(stored)
      toast(t`Saved`)
      onClose()
    } catch (error) {
      const amountError = error instanceof ApiError ? error.details['price.amount'] : undefined
      if (typeof amountError === 'string') form.setError('amount', { message: amountError })
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
      title={product ? t`Edit product` : t`New product`}
      {...(product && { description: t`Existing links do not change.` })}
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
        <Field error={formState.errors.name?.message} label={t`Name`}>
          <Input
            maxLength={120}
            {...register('name', { validate: (text) => text.trim() !== '' || t`Enter a name.` })}
          />
        </Field>
        <Field label={t`Description`} optional>
          <TextArea maxLength={500} {...register('description')} />
        </Field>
        <div className="grid grid-cols-2 gap-4">
          <Field error={formState.errors.amount?.message} label={t`Price`}>
            <Input
              inputMode="decimal"
              suffix={currency}
              {...register('amount', { validate: checkPrice })}
            />
          </Field>
          <Field label={t`Currency`}>
            <Select {...register('currency')}>
              {choices.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
        </div>
        <PictureField image={product?.image ?? null} onChange={setPicture} picture={picture} />
      </form>
    </Dialog>
  )
}

function checkPrice(text: string): string | true {
  return readAmount(text, { decimals: RATE_DECIMALS }).ok || t`Enter more than 0.`
}

function PictureField({
  image,
  picture,
  onChange,
}: {
  image: string | null
  picture: Picture
  onChange: (picture: Picture) => void
}) {
  const { t } = useLingui()
  const [failed, setFailed] = useState(false)
  const shown = picture === undefined ? image : picture

  async function choose(file: File | undefined) {
    if (!file) return
    const data = await shrinkImage(file)
    setFailed(data === undefined)
    if (data !== undefined) onChange(data)
  }

  return (
    <div>
      <Field error={failed && t`Not a readable picture.`} label={t`Picture`} optional>
        <Input
          accept="image/png,image/jpeg,image/webp"
          onChange={({ target }) => void choose(target.files?.[0])}
          type="file"
        />
      </Field>
      {shown !== null && (
        <div className="mt-3 flex items-center gap-3">
          {typeof picture === 'string' ? (
            <img
              alt=""
              className="size-16 rounded-lg border border-line object-cover"
              src={`data:image/webp;base64,${picture}`}
            />
          ) : (
            image !== null && <ItemImage className="size-16" id={image} />
          )}
          <Button onClick={() => onChange(null)} size="sm" variant="quiet">
            <Trans>Remove</Trans>
          </Button>
        </div>
      )}
    </div>
  )
}

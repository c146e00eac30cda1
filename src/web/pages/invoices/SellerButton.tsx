import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { useForm } from 'react-hook-form'
import type { InvoiceSeller } from '#contract/invoice.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { refreshSeller } from './invoice-queries.ts'

/** Opens what invoices say of the seller from now on. */
export function SellerButton({ seller }: { seller: InvoiceSeller | null }) {
  const [open, setOpen] = useState(false)
  return (
    <ForRole least="operator">
      <Button onClick={() => setOpen(true)} variant="quiet">
        <Trans>Seller details</Trans>
      </Button>
      {open && <SellerDialog onClose={() => setOpen(false)} seller={seller} />}
    </ForRole>
  )
}

type SellerForm = Record<keyof InvoiceSeller, string>
const FIELDS = ['name', 'address', 'taxNumber'] as const

function SellerDialog({ seller, onClose }: { seller: InvoiceSeller | null; onClose: () => void }) {
  const { t } = useLingui()
  const id = useId()
  const [failure, setFailure] = useState<string>()
  const { register, handleSubmit, setError, formState } = useForm<SellerForm>({
    defaultValues: {
      name: seller?.name ?? '',
      address: seller?.address ?? '',
      taxNumber: seller?.taxNumber ?? '',
    },
  })
  const { errors, isSubmitting } = formState

  async function save(typed: SellerForm) {
    const [name, address, taxNumber] = FIELDS.map((field) => typed[field].trim())
    setFailure(undefined)
    try {
      await callProxy('invoiceSeller', {
        body: { name: name ?? '', ...(address && { address }), ...(taxNumber && { taxNumber }) },
      })
      refreshSeller()
      onClose()
    } catch (error) {
      const details: Record<string, unknown> = error instanceof ApiError ? error.details : {}
      for (const field of FIELDS) {
        const message = details[field]
        if (typeof message === 'string') setError(field, { message })
      }
      setFailure(joinMessage(describeError(error)))
    }
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={isSubmitting} form={id} type="submit" variant="primary">
            <Trans>Save</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="sm"
      title={t`Seller details`}
    >
      <form
        className="space-y-4"
        id={id}
        noValidate
        onSubmit={(event) => void handleSubmit(save)(event)}
      >
        {failure && <Banner role="alert" title={failure} tone="warn" />}
        <Field error={errors.name?.message} label={t`Name`}>
          <Input
            maxLength={200}
            {...register('name', { validate: (text) => text.trim() !== '' || t`Enter a name.` })}
          />
        </Field>
        <Field error={errors.address?.message} label={t`Address`} optional>
          <TextArea maxLength={500} {...register('address')} />
        </Field>
        <Field error={errors.taxNumber?.message} label={t`Tax number`} optional>
          <Input maxLength={50} {...register('taxNumber')} />
        </Field>
      </form>
    </Dialog>
  )
}

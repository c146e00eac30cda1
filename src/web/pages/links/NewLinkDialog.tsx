import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import type { LinkBody } from '#contract/link-endpoints.ts'
import { nativeAsset } from '#contract/network.ts'
import { callProxy } from '../../api/client.ts'
import { describeError } from '../../errors/codes.ts'
import { ApiError } from '../../api/errors.ts'
import { useConfig } from '../../api/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { sellersOn } from '../../payment-flow/form/start-values.ts'
import { LinkFields } from './LinkFields.tsx'
import { cacheLink } from './links-query.ts'
import { emptyLinkForm, linkRequestOf, type LinkForm } from './link-form.ts'

export function NewLinkDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (link: LinkBody) => void
}) {
  const { t } = useLingui()
  const { networks, sellerWallets } = useConfig()
  const payable = networks.filter((each) => sellersOn(each, sellerWallets).length > 0)
  const [first] = payable
  const form = useForm<LinkForm>({
    defaultValues: emptyLinkForm(first, first && sellersOn(first, sellerWallets)[0]),
  })
  const [networkId, assetAddress] = useWatch({ control: form.control, name: ['network', 'asset'] })
  const [userError, setUserError] = useState<{ title: string; body: string }>()
  const network = payable.find((each) => each.network === networkId) ?? first
  if (!network) {
    return (
      <Dialog onClose={onClose} open title={t`New payment link`}>
        <Banner tone="bad">{t`The merchant has no payout wallet on any network. The operator has to configure one.`}</Banner>
      </Dialog>
    )
  }
  const asset = network.assets.find((each) => each.address === assetAddress) ?? nativeAsset(network)

  async function submit(fields: LinkForm) {
    setUserError(undefined)
    try {
      const { link } = await callProxy('linkCreate', { body: linkRequestOf(fields, asset) })
      cacheLink(link)
      onCreated(link)
    } catch (error) {
      const named = error instanceof ApiError ? Object.entries(error.details) : []
      for (const [field, text] of named)
        if (isField(fields, field) && typeof text === 'string')
          form.setError(field, { message: text })
      setUserError(describeError(error))
    }
  }

  return (
    <Dialog
      description={t`The customer sees these details beside your shop’s name and cannot change them.`}
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            busy={form.formState.isSubmitting}
            form="new-link"
            type="submit"
            variant="primary"
          >
            <Trans>Make the link</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="lg"
      title={t`New payment link`}
    >
      <form
        className="space-y-5"
        id="new-link"
        noValidate
        onSubmit={(event) => void form.handleSubmit(submit)(event)}
      >
        {userError && (
          <Banner role="alert" title={userError.title} tone="warn">
            {userError.body}
          </Banner>
        )}
        <LinkFields asset={asset} form={form} network={network} payable={payable} />
      </form>
    </Dialog>
  )
}

function isField(fields: LinkForm, name: string): name is keyof LinkForm {
  return Object.hasOwn(fields, name)
}

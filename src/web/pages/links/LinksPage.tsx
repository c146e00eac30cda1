import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { nativeAsset } from '#contract/network.ts'
import { hasRole } from '#contract/role.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useRole, useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { sellersOn } from '../../payment-flow/form/start-values.ts'
import { useSearch } from '../../router/use-route.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { LinkFields } from './LinkFields.tsx'
import { LinkList } from './LinkList.tsx'
import { ShareDialog } from './ShareDialog.tsx'
import {
  EVERY_NETWORK,
  currenciesOf,
  emptyLinkForm,
  linkRequestOf,
  type LinkForm,
} from './link-form.ts'
import { linksQuery, cacheLink, type AnyLink } from './links-query.ts'

type Open = { name: 'new' } | { name: 'share'; link: AnyLink } | null

/**
 * The merchant's payment links: create, share, withdraw, and what each received.
 */
export function LinksPage() {
  const { t } = useLingui()
  const session = useSession()
  const role = useRole()
  const begun = useSearch('links').create !== undefined
  const [open, setOpen] = useState<Open>(begun ? { name: 'new' } : null)
  const create = () => setOpen({ name: 'new' })

  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader
        action={
          <ForRole least="operator">
            <Button icon={<Icon name="link" />} onClick={create} variant="primary">
              <Trans>New link</Trans>
            </Button>
          </ForRole>
        }
        subtitle={t`Request payments by link or code.`}
        title={t`Payment links`}
      />
      {session.kind === 'loading' && <PageSkeleton />}
      {session.kind === 'failed' && (
        <Card>
          <QueryError error={session.error} onRetry={session.retry} />
        </Card>
      )}
      {session.kind === 'known' && role === null && (
        <Card>
          <EmptyState
            action={<SignIn />}
            icon="link"
            title={t`Only operators can create payment links`}
          >
            {t`Sign in with an operator wallet.`}
          </EmptyState>
        </Card>
      )}
      {role !== null && (
        <AccountLinks onCreate={create} onShare={(link) => setOpen({ name: 'share', link })} />
      )}
      {open?.name === 'new' && hasRole(role, 'operator') && (
        <NewLinkDialog
          onClose={() => setOpen(null)}
          onCreated={(link) => setOpen({ name: 'share', link })}
        />
      )}
      {open?.name === 'share' && <ShareDialog link={open.link} onClose={() => setOpen(null)} />}
    </div>
  )
}

function AccountLinks({
  onCreate,
  onShare,
}: {
  onCreate: () => void
  onShare: (link: AnyLink) => void
}) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = useQuery(linksQuery)
  if (data === undefined) {
    return error ? (
      <Card>
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  }
  if (data.length === 0) {
    return (
      <Card>
        <EmptyState
          action={
            <ForRole least="operator">
              <Button icon={<Icon name="link" />} onClick={onCreate}>
                <Trans>Create link</Trans>
              </Button>
            </ForRole>
          }
          icon="link"
          title={t`No payment links`}
        >
          <Trans>Customers cannot change these terms.</Trans>
        </EmptyState>
      </Card>
    )
  }
  return <LinkList links={data} onShare={onShare} />
}

function NewLinkDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (link: AnyLink) => void
}) {
  const { t } = useLingui()
  const { networks, sellerWallets, currencies } = useConfig()
  const payable = networks.filter((each) => sellersOn(each, sellerWallets).length > 0)
  const [first] = payable
  const form = useForm<LinkForm>({
    defaultValues: emptyLinkForm(currenciesOf(payable, currencies)[0] ?? ''),
  })
  const [networkId, assetAddress] = useWatch({ control: form.control, name: ['network', 'asset'] })
  const [userError, setUserError] = useState<{ title: string; body: string }>()
  const every = networkId === EVERY_NETWORK
  const network = payable.find((each) => each.network === networkId) ?? first
  if (!network) {
    return (
      <Dialog onClose={onClose} open title={t`New payment link`}>
        <Banner tone="bad">{t`No payout wallet. Ask the operator.`}</Banner>
      </Dialog>
    )
  }
  const asset = network.assets.find((each) => each.address === assetAddress) ?? nativeAsset(network)

  async function submit(fields: LinkForm) {
    setUserError(undefined)
    try {
      const body = linkRequestOf(fields, every ? undefined : asset)
      const { link } = await callProxy('shortLinkCreate', { body })
      cacheLink(link)
      onCreated(link)
    } catch (error) {
      const named = error instanceof ApiError ? Object.entries(error.details) : []
      for (const [field, text] of named) {
        const input = INPUTS[field] ?? field
        if (isField(fields, input) && typeof text === 'string')
          form.setError(input, { message: text })
      }
      setUserError(describeError(error))
    }
  }

  return (
    <Dialog
      description={t`Customers cannot change these terms.`}
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
            <Trans>Create link</Trans>
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
        <LinkFields
          asset={asset}
          form={form}
          network={every ? undefined : network}
          payable={payable}
        />
      </form>
    </Dialog>
  )
}

/** The input of a field of the request, where the two have different names. */
const INPUTS: Readonly<Record<string, keyof LinkForm>> = {
  'price.amount': 'amount',
  'price.currency': 'asset',
  'only.network': 'network',
  'only.asset': 'asset',
  'only.recipient': 'recipient',
  maxPieces: 'pieces',
}

function isField(fields: LinkForm, name: string): name is keyof LinkForm {
  return Object.hasOwn(fields, name)
}

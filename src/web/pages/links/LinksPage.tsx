import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useForm, useWatch, type UseFormReturn } from 'react-hook-form'
import { nativeAsset } from '#contract/network.ts'
import { hasRole } from '#contract/role.ts'
import { callProxy } from '../../api/client.ts'
import { linksQuery, cacheLink, termsOf, type AnyLink } from '../../api/links.ts'
import { productsQuery } from '../../api/products.ts'
import { sessionQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { ApiError } from '../../api/errors.ts'
import { useRole, useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { currenciesOf, payableNetworks } from '../../payment-flow/form/start-values.ts'
import { ItemSummary } from '../../payment-flow/ItemSummary.tsx'
import { navigate } from '../../router/location.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SalesTabs } from '../../shell/SalesTabs.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { LinkFields, ProductLinkFields } from './LinkFields.tsx'
import { LinkList } from './LinkList.tsx'
import { ShareDialog } from './ShareDialog.tsx'
import { SurplusPayments } from './SurplusPayments.tsx'
import {
  EVERY_NETWORK,
  emptyLinkForm,
  linkRequestOf,
  productLinkRequestOf,
  type LinkForm,
} from './link-form.ts'

/**
 * The merchant's payment links: create, share, withdraw, and what each received.
 */
export function LinksPage() {
  const { t } = useLingui()
  const session = useSession()
  const role = useRole()
  // The address opens the dialogs, so that other pages and the palette can.
  const { create, product, link: only } = useSearch('links')
  const [shared, setShared] = useState<AnyLink>()
  const [admitted, setAdmitted] = useState(false)
  // A session that ends leaves an open form: what was typed in it is not lost.
  const begun = shared === undefined && (create !== undefined || product !== undefined)
  const admits = begun && (admitted || hasRole(role, 'operator'))
  if (admits !== admitted) setAdmitted(admits)
  const leave = () => navigate(pathTo('links', {}), { replace: true })
  const share = (link: AnyLink) => {
    leave()
    setShared(link)
  }

  const { data: links } = useQuery({ ...linksQuery, enabled: role !== null })
  const newLink = (
    <ForRole least="operator">
      <Button
        icon={<Icon name="link" />}
        onClick={() => navigate(pathTo('links', { search: { create: 'link' } }), { replace: true })}
        variant="primary"
      >
        <Trans>New link</Trans>
      </Button>
    </ForRole>
  )

  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader action={links?.length !== 0 && newLink} title={t`Payment links`} />
      <SalesTabs />
      {session.kind === 'loading' && <PageSkeleton />}
      {session.kind === 'failed' && (
        <Card>
          <QueryError error={session.error} onRetry={session.retry} />
        </Card>
      )}
      {session.kind === 'known' && role === null && <NoAccess action={<SignIn />} icon="link" />}
      {role !== null && (
        <>
          <SurplusPayments />
          <AccountLinks newLink={newLink} onShare={setShared} only={only} />
        </>
      )}
      {admits && product === undefined && <NewLinkDialog onClose={leave} onCreated={share} />}
      {admits && product !== undefined && (
        <ProductLinkDialog onClose={leave} onCreated={share} productId={product} />
      )}
      {shared && <ShareDialog link={shared} onClose={() => setShared(undefined)} />}
    </div>
  )
}

function AccountLinks({
  newLink,
  onShare,
  only,
}: {
  newLink: ReactNode
  onShare: (link: AnyLink) => void
  /** The id of the link to show. Those of invoices and very old ones are not in the list. */
  only: string | undefined
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
        <EmptyState action={newLink} icon="link" title={t`Share a link to get paid.`} />
      </Card>
    )
  }
  const found = data.filter((link) => termsOf(link).id === only)
  if (found.length === 0) return <LinkList links={data} onShare={onShare} />
  return (
    <>
      <Link className={buttonClass({ size: 'sm' }, 'mb-4')} to={pathTo('links', {})}>
        <Trans>All payment links</Trans>
      </Link>
      <LinkList links={found} onShare={onShare} />
    </>
  )
}

function NewLinkDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (link: AnyLink) => void
}) {
  const { t } = useLingui()
  const config = useConfig()
  const payable = payableNetworks(config)
  const [first] = payable
  const form = useForm<LinkForm>({
    defaultValues: emptyLinkForm(currenciesOf(payable, config.currencies)[0] ?? ''),
  })
  const [networkId, assetAddress] = useWatch({ control: form.control, name: ['network', 'asset'] })
  const every = networkId === EVERY_NETWORK
  const network = payable.find((each) => each.network === networkId) ?? first
  if (!network) {
    return (
      <Dialog onClose={onClose} open title={t`New link`}>
        <Banner tone="bad">{t`No payout wallet. Ask the operator.`}</Banner>
      </Dialog>
    )
  }
  const asset = network.assets.find((each) => each.address === assetAddress) ?? nativeAsset(network)

  return (
    <LinkDialog
      form={form}
      onClose={onClose}
      onCreated={onCreated}
      request={(fields) =>
        callProxy('shortLinkCreate', { body: linkRequestOf(fields, every ? undefined : asset) })
      }
    >
      <LinkFields
        asset={asset}
        form={form}
        network={every ? undefined : network}
        payable={payable}
      />
    </LinkDialog>
  )
}

/** A link that sells a product: made with what it starts with, or after a change. */
function ProductLinkDialog({
  productId,
  ...rest
}: Pick<LinkDialogProps, 'onClose' | 'onCreated'> & { productId: string }) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = useQuery(productsQuery)
  const form = useForm<LinkForm>({
    defaultValues: { ...emptyLinkForm(''), lasts: 'always', uses: 'any' },
  })
  const product = data?.find(({ id }) => id === productId)
  if (!product)
    return (
      <Dialog onClose={rest.onClose} open title={t`New link`}>
        {error ? (
          <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
        ) : (
          data && <Banner tone="warn">{t`Product not found.`}</Banner>
        )}
      </Dialog>
    )
  return (
    <LinkDialog
      form={form}
      request={(fields) =>
        callProxy('shortLinkCreate', { body: productLinkRequestOf(fields, product.id) })
      }
      {...rest}
    >
      <ItemSummary item={{ ...product, pieces: 1 }} />
      <ProductLinkFields form={form} />
    </LinkDialog>
  )
}

type LinkDialogProps = {
  form: UseFormReturn<LinkForm>
  request: (fields: LinkForm) => Promise<{ link: AnyLink }>
  onClose: () => void
  onCreated: (link: AnyLink) => void
  children: ReactNode
}

function LinkDialog({ form, request, onClose, onCreated, children }: LinkDialogProps) {
  const { t } = useLingui()
  const role = useRole()
  const [userError, setUserError] = useState<{ title: string; body: string }>()

  async function submit(fields: LinkForm) {
    setUserError(undefined)
    try {
      const { link } = await request(fields)
      cacheLink(link)
      onCreated(link)
    } catch (error) {
      // Then the dialog offers to sign in, and what was typed stays.
      if (error instanceof ApiError && error.code === 'UNAUTHORIZED') {
        await queryClient.invalidateQueries(sessionQuery)
        return
      }
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
      title={t`New link`}
    >
      <form
        className="space-y-5"
        id="new-link"
        noValidate
        onSubmit={(event) => void form.handleSubmit(submit)(event)}
      >
        {role === null && (
          <Banner action={<SignIn look="secondary" />} role="alert" tone="warn">
            <Trans>Session ended.</Trans>
          </Banner>
        )}
        {userError && (
          <Banner role="alert" title={userError.title} tone="warn">
            {userError.body}
          </Banner>
        )}
        {children}
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

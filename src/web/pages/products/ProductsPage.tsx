import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { ProductBody } from '#contract/product-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { cacheProduct, productsQuery } from '../../api/products.ts'
import { useRole } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { formatPrice } from '../../locales/formats.ts'
import { ItemImage } from '../../payment-flow/ItemSummary.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SalesTabs } from '../../shell/SalesTabs.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { toast } from '../../ui/Toast.tsx'
import { ProductDialog } from './ProductDialog.tsx'

type Open = { product: ProductBody | undefined } | null

/** What the merchant sells: name, picture and price, from which payment links are made. */
export function ProductsPage() {
  const { t } = useLingui()
  const role = useRole()
  const [open, setOpen] = useState<Open>(null)
  const { data } = useQuery({ ...productsQuery, enabled: role !== null })
  const newProduct = (
    <ForRole least="operator">
      <Button onClick={() => setOpen({ product: undefined })} variant="primary">
        <Trans>New product</Trans>
      </Button>
    </ForRole>
  )
  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader action={data?.length !== 0 && newProduct} title={t`Products`} />
      <SalesTabs />
      <SignedIn skeleton={<PageSkeleton />}>
        {() =>
          role === null ? (
            <NoAccess icon="table" />
          ) : (
            <ProductList newProduct={newProduct} onEdit={(product) => setOpen({ product })} />
          )
        }
      </SignedIn>
      {open && <ProductDialog onClose={() => setOpen(null)} product={open.product} />}
    </div>
  )
}

function ProductList({
  newProduct,
  onEdit,
}: {
  newProduct: ReactNode
  onEdit: (product: ProductBody) => void
}) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = useQuery(productsQuery)
  const [show, setShow] = useState<'active' | 'archived'>('active')
  if (!data)
    return error ? (
      <Card>
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  const shown = data.filter(({ archivedAt }) => (archivedAt === null) === (show === 'active'))
  return (
    <>
      {data.some(({ archivedAt }) => archivedAt !== null) && (
        <Segmented
          className="mb-4"
          label={t`Show`}
          onChange={setShow}
          options={[
            { value: 'active', label: t`Active` },
            { value: 'archived', label: t`Archived` },
          ]}
          value={show}
        />
      )}
      {shown.length === 0 ? (
        <Card>
          <EmptyState
            action={data.length === 0 && newProduct}
            icon="table"
            title={data.length === 0 ? t`Use products in links and invoices.` : t`No products`}
          />
        </Card>
      ) : (
        <ul
          aria-label={t`Products`}
          className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
        >
          {shown.map((product) => (
            <ProductItem key={product.id} onEdit={() => onEdit(product)} product={product} />
          ))}
        </ul>
      )}
    </>
  )
}

function ProductItem({ product, onEdit }: { product: ProductBody; onEdit: () => void }) {
  const { t } = useLingui()
  const { id, name, description, price, image, archivedAt } = product
  const [busy, setBusy] = useState(false)

  async function archive(archived: boolean) {
    setBusy(true)
    try {
      cacheProduct((await callProxy('productArchive', { body: { id, archived } })).product)
      toast(archived ? t`Archived` : t`Activated`)
    } catch (error) {
      const { title, body } = describeError(error)
      toast(title, { tone: 'warn', body })
    } finally {
      setBusy(false)
    }
  }

  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4">
      {image !== null && <ItemImage className="size-12" id={image} />}
      <div className="min-w-40 flex-1 [overflow-wrap:anywhere]">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {name}
          {archivedAt !== null && <Badge>{t`Archived`}</Badge>}
        </p>
        {description !== null && <p className="line-clamp-2 text-sm text-muted">{description}</p>}
      </div>
      <p className="figures font-medium">{formatPrice(price.amount, price.currency)}</p>
      <ForRole least="operator">
        <div className="flex flex-wrap gap-2">
          {archivedAt === null && (
            <Link
              className={buttonClass({ size: 'sm' })}
              to={pathTo('links', { search: { product: id } })}
            >
              <Icon name="link" size={14} />
              <Trans>Create link</Trans>
            </Link>
          )}
          <Button onClick={onEdit} size="sm">
            <Trans>Edit</Trans>
          </Button>
          <Button
            busy={busy}
            onClick={() => void archive(archivedAt === null)}
            size="sm"
            variant="quiet"
          >
            {archivedAt === null ? <Trans>Archive</Trans> : <Trans>Activate</Trans>}
          </Button>
        </div>
      </ForRole>
    </li>
  )
}

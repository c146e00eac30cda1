import { useLingui } from '@lingui/react/macro'
import { Link } from '../router/Link.tsx'
import { pathTo } from '../router/paths.ts'
import { useRoute } from '../router/use-route.tsx'
import { cx } from '../ui/button-class.ts'

/** Payment links, and the products that links are made from: two pages of one entry of the navigation. */
export function SalesTabs() {
  const { t } = useLingui()
  const route = useRoute()
  const tabs = [
    { name: 'links', to: pathTo('links', {}), label: t`Links` },
    { name: 'products', to: pathTo('products', {}), label: t`Products` },
  ]
  return (
    <nav aria-label={t`Payment links`} className="no-print mb-5 flex gap-5 border-b border-line">
      {tabs.map(({ name, to, label }) => (
        <Link
          aria-current={route?.name === name ? 'page' : undefined}
          className={cx(
            'forced-chosen touch-target -mb-px border-b-2 pb-2 text-sm font-medium',
            route?.name === name
              ? 'border-accent text-ink'
              : 'border-transparent text-muted hover:text-ink',
          )}
          key={name}
          to={to}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}

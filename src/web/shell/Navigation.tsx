import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { hasRole, type Role } from '#contract/role.ts'
import { useRole } from '../api/session.ts'
import { pathTo, type RouteName } from '../router/paths.ts'
import { Link } from '../router/Link.tsx'
import { navigate } from '../router/location.ts'
import { useRoute } from '../router/use-route.tsx'
import { cx } from '../ui/button-class.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Menu } from '../ui/Menu.tsx'

const items: readonly {
  to: string
  label: MessageDescriptor
  icon: IconName
  pages: readonly RouteName[]
  /** A phone's bar has no room for it: it stands in the menu at its end. */
  merchantOnly?: true
  /** Only people with this role can use it. */
  least?: Role
}[] = [
  { to: pathTo('overview', {}), label: msg`Overview`, icon: 'overview', pages: ['overview'] },
  {
    to: pathTo('payments', {}),
    label: msg`Payments`,
    icon: 'payments',
    pages: ['payments', 'payment', 'refund'],
  },
  {
    to: pathTo('customers', {}),
    label: msg`Customers`,
    icon: 'person',
    pages: ['customers', 'customer'],
    merchantOnly: true,
    least: 'viewer',
  },
  {
    to: pathTo('links', {}),
    label: msg`Payment links`,
    icon: 'link',
    pages: ['links', 'products'],
    merchantOnly: true,
  },
  {
    to: pathTo('files', {}),
    label: msg`Files`,
    icon: 'download',
    pages: ['files'],
    merchantOnly: true,
    least: 'viewer',
  },
  {
    to: pathTo('invoices', {}),
    label: msg`Invoices`,
    icon: 'table',
    pages: ['invoices', 'invoice'],
    merchantOnly: true,
    least: 'viewer',
  },
  {
    to: pathTo('balances', {}),
    label: msg`Balances`,
    icon: 'wallet',
    pages: ['balances'],
    merchantOnly: true,
    least: 'viewer',
  },
  { to: pathTo('checkout', {}), label: msg`Pay`, icon: 'pay', pages: ['checkout', 'payLink'] },
  {
    to: pathTo('verify', {}),
    label: msg`Verify`,
    icon: 'shield',
    pages: ['verify'],
    merchantOnly: true,
  },
  {
    to: pathTo('explore', {}),
    label: msg`Explore`,
    icon: 'search',
    pages: ['explore'],
    merchantOnly: true,
  },
  {
    to: pathTo('developers', {}),
    label: msg`Developers`,
    icon: 'code',
    pages: ['developers'],
    merchantOnly: true,
  },
  {
    to: pathTo('people', {}),
    label: msg`People`,
    icon: 'people',
    pages: ['people'],
    merchantOnly: true,
    least: 'owner',
  },
  {
    to: pathTo('settings', {}),
    label: msg`Settings`,
    icon: 'settings',
    pages: ['settings'],
    merchantOnly: true,
  },
]

const looks = {
  side: {
    nav: 'mt-7',
    list: 'space-y-0.5',
    item: 'h-10 gap-3 rounded-lg px-3 text-sm',
    here: 'bg-raised text-ink shadow-edge',
    away: 'text-muted hover:bg-hover hover:text-ink',
  },
  bottom: {
    nav: 'no-print fixed inset-x-0 bottom-0 z-30 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden',
    list: 'grid grid-cols-4',
    item: 'h-16 flex-col justify-center gap-1 text-xs focus-visible:-outline-offset-4',
    here: 'text-accent',
    away: 'text-muted',
  },
}

export function Navigation({ look }: { look: keyof typeof looks }) {
  const route = useRoute()
  const { t } = useLingui()
  const { nav, list, item, here, away } = looks[look]
  const offered = useOffered()
  return (
    <nav aria-label={t`Main`} className={nav}>
      <ul className={list}>
        {offered
          .filter(({ merchantOnly }) => look === 'side' || !merchantOnly)
          .map(({ to, label, icon, pages }) => {
            const current = route !== undefined && pages.includes(route.name)
            return (
              <li key={to}>
                <Link
                  aria-current={current ? 'page' : undefined}
                  className={cx(
                    'forced-chosen flex items-center font-medium transition-colors',
                    item,
                    current ? here : away,
                  )}
                  to={to}
                >
                  <Icon
                    className={look === 'side' && current ? 'text-accent' : undefined}
                    name={icon}
                    size={20}
                  />
                  {t(label)}
                </Link>
              </li>
            )
          })}
        {look === 'bottom' && <More />}
      </ul>
    </nav>
  )
}

/** The pages that the person in front of it can use. */
export function useOffered() {
  const role = useRole()
  return items.filter(({ least }) => least === undefined || hasRole(role, least))
}

/** Everything else, on a phone. */
function More() {
  const route = useRoute()
  const { t } = useLingui()
  const rest = useOffered().filter(({ merchantOnly }) => merchantOnly)
  const here = route !== undefined && rest.some(({ pages }) => pages.includes(route.name))
  return (
    <li>
      <Menu
        items={rest.map(({ to, label, icon }) => ({
          id: to,
          icon: <Icon name={icon} />,
          label: t(label),
          onSelect: () => navigate(to),
        }))}
        label={t`More pages`}
        trigger={
          <>
            <Icon name="menu" size={20} />
            <Trans>More</Trans>
          </>
        }
        triggerClassName={cx(
          'forced-chosen flex w-full items-center font-medium transition-colors',
          looks.bottom.item,
          here ? looks.bottom.here : looks.bottom.away,
        )}
      />
    </li>
  )
}

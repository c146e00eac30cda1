import { lazy, type ComponentType, type LazyExoticComponent } from 'react'
import { loadMessages } from '../locales/language.ts'
import { matchPath, type RouteName } from '../router/paths.ts'

/** The code of each page, fetched when it is first needed. */
const loaders: Readonly<Record<RouteName, () => Promise<{ default: ComponentType }>>> = {
  overview: () =>
    import('../pages/overview/OverviewPage.tsx').then((module) => ({
      default: module.OverviewPage,
    })),
  checkout: () =>
    import('../pages/checkout/CheckoutPage.tsx').then((module) => ({
      default: module.CheckoutPage,
    })),
  payLink: () =>
    import('../pages/checkout/PayLinkPage.tsx').then((module) => ({ default: module.PayLinkPage })),
  links: () =>
    import('../pages/links/LinksPage.tsx').then((module) => ({ default: module.LinksPage })),
  files: () =>
    import('../pages/files/FilesPage.tsx').then((module) => ({ default: module.FilesPage })),
  file: () =>
    import('../pages/files/FilePage.tsx').then((module) => ({ default: module.FilePage })),
  products: () =>
    import('../pages/products/ProductsPage.tsx').then((module) => ({
      default: module.ProductsPage,
    })),
  invoices: () =>
    import('../pages/invoices/InvoicesPage.tsx').then((module) => ({
      default: module.InvoicesPage,
    })),
  invoice: () =>
    import('../pages/invoices/InvoicePage.tsx').then((module) => ({
      default: module.InvoicePage,
    })),
  payments: () =>
    import('../pages/payments/PaymentsPage.tsx').then((module) => ({
      default: module.PaymentsPage,
    })),
  payment: () =>
    import('../pages/payment/PaymentPage.tsx').then((module) => ({ default: module.PaymentPage })),
  refund: () =>
    import('../pages/checkout/RefundPage.tsx').then((module) => ({ default: module.RefundPage })),
  customers: () =>
    import('../pages/customers/CustomersPage.tsx').then((module) => ({
      default: module.CustomersPage,
    })),
  customer: () =>
    import('../pages/customers/CustomerPage.tsx').then((module) => ({
      default: module.CustomerPage,
    })),
  balances: () =>
    import('../pages/balances/BalancesPage.tsx').then((module) => ({
      default: module.BalancesPage,
    })),
  developers: () =>
    import('../pages/developers/DevelopersPage.tsx').then((module) => ({
      default: module.DevelopersPage,
    })),
  verify: () =>
    import('../pages/verify/VerifyPage.tsx').then((module) => ({ default: module.VerifyPage })),
  explore: () =>
    import('../pages/explore/ExplorePage.tsx').then((module) => ({ default: module.ExplorePage })),
  people: () =>
    import('../pages/people/PeoplePage.tsx').then((module) => ({ default: module.PeoplePage })),
  join: () =>
    import('../pages/people/JoinPage.tsx').then((module) => ({ default: module.JoinPage })),
  settings: () =>
    import('../pages/settings/SettingsPage.tsx').then((module) => ({
      default: module.SettingsPage,
    })),
}

/** The catalogs of a page, beside the one that every page shows. `pages.test.ts` derives them from the imports. */
export const CATALOGS: Readonly<Record<RouteName, readonly string[]>> = {
  overview: ['overview', 'payment-view'],
  checkout: ['checkout', 'paying'],
  payLink: ['checkout', 'paying'],
  links: ['links', 'paying'],
  files: ['files', 'paying'],
  file: ['files', 'paying'],
  products: ['products', 'paying'],
  invoices: ['invoices', 'paying'],
  invoice: ['invoices', 'paying'],
  payments: ['payments', 'payment-view'],
  payment: ['payment', 'payment-view', 'paying'],
  refund: ['checkout', 'paying'],
  customers: ['customers'],
  customer: ['customers', 'payment-view'],
  balances: ['balances', 'paying'],
  developers: ['developers', 'paying'],
  verify: ['verify', 'paying'],
  explore: ['explore', 'paying'],
  people: ['people', 'paying'],
  join: ['people', 'paying'],
  settings: ['settings'],
}

async function load(name: RouteName): Promise<{ default: ComponentType }> {
  const [page] = await Promise.all([loaders[name](), ...CATALOGS[name].map(loadMessages)])
  return page
}

const pages = new Map<RouteName, LazyExoticComponent<ComponentType>>()

export function pageOf(name: RouteName): LazyExoticComponent<ComponentType> {
  const known = pages.get(name)
  if (known) return known
  const page = lazy(() => load(name))
  pages.set(name, page)
  return page
}

/** A failed load is not remembered: the next try asks the network again. */
export function forgetPage(name: RouteName): void {
  pages.delete(name)
}

/** Starts to fetch a page's code while the reader is still on the way to it. */
export function preloadPage(path: string): void {
  const match = matchPath(path.split('?')[0] ?? path, '')
  // What fails here fails again, visibly, when the page is opened.
  if (match) load(match.name).catch(() => undefined)
}

/** Asks for what the first page shows, while its code and the public configuration are on their way. */
export function requestEarly(path: string): void {
  const match = matchPath(path, '')
  if (match?.name !== 'payLink') return
  import('../payment-flow/form/open-link.ts').then(
    (module) => module.requestEarly(match.params.link),
    // The page cannot be shown then, and says so.
    () => undefined,
  )
}

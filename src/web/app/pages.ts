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
  payments: () =>
    import('../pages/payments/PaymentsPage.tsx').then((module) => ({
      default: module.PaymentsPage,
    })),
  payment: () =>
    import('../pages/payment/PaymentPage.tsx').then((module) => ({ default: module.PaymentPage })),
  developers: () =>
    import('../pages/developers/DevelopersPage.tsx').then((module) => ({
      default: module.DevelopersPage,
    })),
  verify: () =>
    import('../pages/verify/VerifyPage.tsx').then((module) => ({ default: module.VerifyPage })),
  explore: () =>
    import('../pages/explore/ExplorePage.tsx').then((module) => ({ default: module.ExplorePage })),
  settings: () =>
    import('../pages/settings/SettingsPage.tsx').then((module) => ({
      default: module.SettingsPage,
    })),
}

/** Catalogs a page needs besides its own and `desk`. */
const words: Partial<Record<RouteName, readonly string[]>> = {
  overview: ['payment-view'],
  payments: ['payment-view'],
  payment: ['payment-view', 'paying'],
  checkout: ['paying'],
  developers: ['paying'],
  explore: ['paying'],
  verify: ['paying', 'payment-view'],
  payLink: ['checkout', 'paying'],
}

async function load(name: RouteName): Promise<{ default: ComponentType }> {
  const [page] = await Promise.all([
    loaders[name](),
    ...[name, ...(words[name] ?? [])].map(loadMessages),
  ])
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

/** A failed load is not cached: the next attempt fetches again. */
export function forgetPage(name: RouteName): void {
  pages.delete(name)
}

/** Starts to fetch a page's code before the reader opens it. */
export function preloadPage(path: string): void {
  const match = matchPath(path.split('?')[0] ?? path, '')
  // A failure here happens again, visibly, when the page is opened.
  if (match) load(match.name).catch(() => undefined)
}

import { getWallets } from '@wallet-standard/app'
import { useEffect } from 'react'
import type { Family } from '#contract/address.ts'
import { createStore } from '../../local-data/store.ts'

/** One row of the dialog: a wallet with every family it speaks. */
export type FoundWallet = {
  name: string
  icon?: string
  /** By family, the id its stack knows it by. */
  ids: Partial<Record<Family, string>>
}

type Announced = { family: Family; id: string; name: string; icon?: string }

const found = createStore<readonly FoundWallet[]>([])
let started = false
const announced = new Map<string, Announced>()

/** The wallets of this browser, found by EIP-6963 and the Wallet Standard, merged into one row per wallet. */
export function useFoundWallets(): readonly FoundWallet[] {
  useEffect(start, [])
  return found.use()
}

/** Rows by name: a wallet announces the same one on both roads, up to case and spaces. */
export function mergeWallets(wallets: Iterable<Announced>): FoundWallet[] {
  const rows = new Map<string, FoundWallet>()
  for (const { family, id, name, icon } of wallets) {
    const key = name.trim().toLowerCase().replace(/\s+/g, ' ')
    const row = rows.get(key)
    // Two extensions may claim one name on one road: they stay two rows, or the wrong one would open.
    if (row && row.ids[family] === undefined)
      rows.set(key, { ...row, icon: row.icon ?? icon, ids: { ...row.ids, [family]: id } })
    else rows.set(row ? `${key} ${id}` : key, { name: name.trim(), icon, ids: { [family]: id } })
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name))
}

/** Only images a page can show without asking anyone: a wallet's icon is foreign text. */
export function safeIcon(icon: unknown): string | undefined {
  return typeof icon === 'string' &&
    /^data:image\/(png|webp|svg\+xml|jpeg|gif)[;,]/.test(icon) &&
    icon.length < 200_000
    ? icon
    : undefined
}

function start(): void {
  if (started) return
  started = true
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = readAnnouncement(event)
    if (wallet) add(wallet)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))

  const { get, on } = getWallets()
  const addStandard = (wallets: ReturnType<typeof get>) => {
    for (const { name, icon, features } of wallets) {
      const speaks =
        'standard:connect' in features &&
        'standard:events' in features &&
        'solana:signTransaction' in features
      if (speaks) add({ family: 'solana', id: name, name, icon: safeIcon(icon) })
    }
  }
  addStandard(get())
  on('register', (...wallets) => addStandard(wallets))
  on('unregister', (...wallets) => {
    for (const { name } of wallets) announced.delete(`solana:${name}`)
    publish()
  })
}

function readAnnouncement(event: Event): Announced | undefined {
  const detail: unknown = event instanceof CustomEvent ? event.detail : undefined
  const info: unknown =
    typeof detail === 'object' && detail !== null ? Reflect.get(detail, 'info') : undefined
  if (typeof info !== 'object' || info === null) return undefined
  const [rdns, name, icon]: unknown[] = [
    Reflect.get(info, 'rdns'),
    Reflect.get(info, 'name'),
    Reflect.get(info, 'icon'),
  ]
  return typeof rdns === 'string' && typeof name === 'string'
    ? { family: 'evm', id: rdns, name, icon: safeIcon(icon) }
    : undefined
}

function add(wallet: Announced): void {
  announced.set(`${wallet.family}:${wallet.id}`, wallet)
  publish()
}

function publish(): void {
  found.set(mergeWallets(announced.values()))
}

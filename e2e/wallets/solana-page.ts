import type { WalletReply } from './control.ts'

export type SolanaPageOptions = { binding: string; name: string; icon: string }

/** Runs in the page before any of its scripts: registers a Wallet Standard wallet whose every signature is made outside the page. */
export function registerSolanaWallet(options: SolanaPageOptions): void {
  type Bytes = Uint8Array
  type Account = {
    address: string
    publicKey: Bytes
    chains: readonly string[]
    features: readonly string[]
  }
  const CHAINS = ['solana:mainnet', 'solana:devnet', 'solana:testnet', 'solana:localnet'] as const
  const FEATURES = ['solana:signTransaction', 'solana:signMessage'] as const
  const answer = (
    window as unknown as Record<string, (method: string, params: unknown) => Promise<WalletReply>>
  )[options.binding]
  const listeners = new Set<(change: { accounts: readonly Account[] }) => void>()
  let accounts: readonly Account[] = []

  const encode = (bytes: Bytes) =>
    btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  const decode = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  const ask = async (method: string, params: unknown): Promise<unknown> => {
    const reply = await answer?.(method, params)
    if (!reply) throw new Error('The wallet is gone.')
    if ('error' in reply)
      throw Object.assign(new Error(reply.error.message), { code: reply.error.code })
    return reply.result
  }
  const setAccounts = (list: readonly { address: string; publicKey: string }[]) => {
    accounts = list.map(({ address, publicKey }) => ({
      address,
      publicKey: decode(publicKey),
      chains: CHAINS,
      features: FEATURES,
    }))
    for (const listener of listeners) listener({ accounts })
  }
  const wallet = {
    version: '1.0.0',
    name: options.name,
    icon: options.icon,
    chains: CHAINS,
    get accounts() {
      return accounts
    },
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async (input?: { silent?: boolean }) => {
          setAccounts(
            (await ask('connect', { silent: input?.silent ?? false })) as {
              address: string
              publicKey: string
            }[],
          )
          return { accounts }
        },
      },
      'standard:disconnect': {
        version: '1.0.0',
        disconnect: async () => {
          await ask('disconnect', {})
          setAccounts([])
        },
      },
      'standard:events': {
        version: '1.0.0',
        on: (_event: 'change', listener: (change: { accounts: readonly Account[] }) => void) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction: (...inputs: { account: Account; transaction: Bytes; chain?: string }[]) =>
          Promise.all(
            inputs.map(async ({ account, transaction, chain }) => {
              const signed = await ask('signTransaction', {
                address: account.address,
                chain: chain ?? null,
                transaction: encode(transaction),
              })
              return { signedTransaction: decode(signed as string) }
            }),
          ),
      },
      'solana:signMessage': {
        version: '1.0.0',
        signMessage: (...inputs: { account: Account; message: Bytes }[]) =>
          Promise.all(
            inputs.map(async ({ account, message }) => {
              const signature = await ask('signMessage', {
                address: account.address,
                message: encode(message),
              })
              return { signedMessage: message, signature: decode(signature as string) }
            }),
          ),
      },
    },
  }
  Object.assign(window, { [`${options.binding}Accounts`]: setAccounts })

  const register = ({ register: add }: { register: (found: typeof wallet) => void }) => add(wallet)
  window.addEventListener('wallet-standard:app-ready', (event) =>
    register((event as CustomEvent<{ register: (found: typeof wallet) => void }>).detail),
  )
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
}

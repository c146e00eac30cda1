import {
  SolanaSignMessage,
  SolanaSignTransaction,
  type SolanaSignMessageFeature,
  type SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import {
  StandardConnect,
  StandardDisconnect,
  StandardEvents,
  type StandardConnectFeature,
  type StandardDisconnectFeature,
  type StandardEventsFeature,
  type StandardEventsListeners,
} from '@wallet-standard/features'
import { renderMatchFact } from '#contract/render-facts.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { chooseAccount } from './connect.ts'
import { ICON, NAME } from './icon.ts'
import { connected, remember, setup, type Person } from './people.ts'
import { requestApproval, type ApprovalRequest } from './approval-dialog.ts'
import { writeSignature } from './solana-signature.ts'

const CHAINS = ['solana:devnet'] as const
const FEATURES = [SolanaSignTransaction, SolanaSignMessage] as const

type Features = StandardConnectFeature &
  StandardDisconnectFeature &
  StandardEventsFeature &
  SolanaSignTransactionFeature &
  SolanaSignMessageFeature

let accounts: readonly WalletAccount[] = []
const changeListeners = new Set<StandardEventsListeners['change']>()

function setAccounts(person: Person | undefined): void {
  accounts = person
    ? [
        Object.freeze({
          address: person.solana.address,
          publicKey: person.solana.publicKey,
          chains: CHAINS,
          features: FEATURES,
          label: person.name,
        }),
      ]
    : []
  for (const listener of changeListeners) listener({ accounts })
}

const features: Features = {
  [StandardConnect]: {
    version: '1.0.0',
    connect: async ({ silent } = {}) => {
      if (accounts.length === 0) {
        const person =
          (await connected('solana')) ?? (silent ? undefined : await chooseAccount('solana'))
        if (!person && !silent) throw refused()
        setAccounts(person)
      }
      return { accounts }
    },
  },
  [StandardDisconnect]: {
    version: '1.0.0',
    disconnect: async () => {
      remember('solana', null)
      setAccounts(undefined)
    },
  },
  [StandardEvents]: {
    version: '1.0.0',
    on: (_event, listener) => {
      changeListeners.add(listener)
      return () => changeListeners.delete(listener)
    },
  },
  [SolanaSignTransaction]: {
    version: '1.0.0',
    supportedTransactionVersions: ['legacy', 0],
    signTransaction: async (...inputs) => {
      const outputs: { signedTransaction: Uint8Array }[] = []
      for (const { account, transaction } of inputs) {
        const person = await signerOf(account)
        if ((await requestApproval(await describe(transaction, person))) === undefined)
          throw refused()
        outputs.push({ signedTransaction: writeSignature(transaction, person.solana) })
      }
      return outputs
    },
  },
  [SolanaSignMessage]: {
    version: '1.0.0',
    signMessage: async (...inputs) => {
      const outputs: { signedMessage: Uint8Array; signature: Uint8Array }[] = []
      for (const { account, message } of inputs) {
        const person = await signerOf(account)
        const text = new TextDecoder().decode(message)
        const answer = await requestApproval({
          title: 'Sign this message?',
          explanation: `${location.host} asks ${person.name} to sign. Nothing is paid.`,
          text,
          approve: 'Sign',
        })
        if (answer === undefined) throw refused()
        outputs.push({ signedMessage: message, signature: person.solana.sign(message) })
      }
      return outputs
    },
  },
}

/** What the transaction does, read from its bytes. */
async function describe(transaction: Uint8Array, person: Person): Promise<ApprovalRequest> {
  const common = {
    title: 'Sign this payment?',
    explanation: `From ${person.name}, on the local network.`,
    approve: 'Approve',
  }
  const decoded = decodeTransaction(transaction, (await setup()).tokens)
  if (!decoded.ok)
    return {
      ...common,
      title: 'Sign this transaction?',
      explanation: `This wallet cannot read it: ${decoded.problem}`,
    }
  const { transfer, feePayer, feeBoundAtomic, steps } = decoded
  const fee = [
    'Network fee at most',
    `${formatAmount(feeBoundAtomic, 9)} SOL, paid by ${feePayer}`,
  ] as const
  if (!transfer || transfer.recipient === null || transfer.asset !== SOLANA_NATIVE) {
    const rows = steps.flatMap(({ kind, facts }) =>
      Object.entries(facts).map(
        ([label, value]) =>
          [`${kind.replaceAll('_', ' ')}: ${label}`, renderMatchFact(value)] as const,
      ),
    )
    return { ...common, title: 'Sign this transaction?', facts: [...rows, fee] }
  }
  const memo = transfer.memo === null ? [] : [['Memo', transfer.memo] as const]
  return {
    ...common,
    facts: [
      ['Amount', `${formatAmount(transfer.amountAtomic, 9)} SOL`],
      ['To', transfer.recipient],
      ...memo,
      fee,
    ],
  }
}

async function signerOf(account: WalletAccount): Promise<Person> {
  const person = await connected('solana')
  if (person?.solana.address !== account.address)
    throw new Error('This page is not connected to that account.')
  return person
}

/** With the message and code of real wallets. */
function refused(): Error {
  return Object.assign(new Error('User rejected the request.'), { code: 4001 })
}

const wallet: Wallet & { features: Features } = {
  version: '1.0.0',
  name: NAME,
  icon: ICON,
  chains: CHAINS,
  features,
  get accounts() {
    return accounts
  },
}

/**
 * Registers this wallet by the Wallet Standard, with pages that already listen and with later ones.
 */
export function registerSolana(): void {
  type Api = { register: (wallet: Wallet) => void }
  const callback = ({ register }: Api) => register(wallet)
  // The page's event is an `Event` with an added `detail`, not a `CustomEvent`.
  window.addEventListener('wallet-standard:app-ready', (event: Event & { detail?: Api }) => {
    if (event.detail) callback(event.detail)
  })
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
}

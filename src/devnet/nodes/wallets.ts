import { createHmac, pbkdf2Sync } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { toHex, type Hex } from 'viem'
import { HDKey, hdKeyToAccount } from 'viem/accounts'

/**
 * The mnemonic that every Ethereum development node knows. Imported into MetaMask or Phantom it gives the accounts below,
 * today and after every reset. Anybody can spend what lies on them: never send real money there.
 */
export const DEVNET_MNEMONIC = 'test test test test test test test test test test test junk'

export type EvmWallet = { address: Hex; privateKey: Hex }
/** `secretKey`: 64 bytes in base58, as Phantom imports and exports it. */
export type SolanaWallet = { address: string; secretKey: string }
export type Wallet = { evm: EvmWallet; solana: SolanaWallet }

export type Wallets = {
  buyer: Wallet
  seller: Wallet
  /** The service's own sending wallet. */
  managed: Wallet
  /** Pays the networks for settling what payers of tokens signed. */
  facilitator: Wallet
}

/** Account numbers of the mnemonic. The payers of the seeded history follow the named ones. */
const ACCOUNT = {
  buyer: 0,
  seller: 1,
  managed: 2,
  firstPayer: 3,
  facilitator: 18,
  deployer: 19,
} as const

export const PAYER_COUNT = 11

export function devnetWallets(): Wallets {
  return {
    buyer: wallet(ACCOUNT.buyer),
    seller: wallet(ACCOUNT.seller),
    managed: wallet(ACCOUNT.managed),
    facilitator: wallet(ACCOUNT.facilitator),
  }
}

/** The other customers in the seeded history. */
export function seedPayers(): Wallet[] {
  return Array.from({ length: PAYER_COUNT }, (_, index) => wallet(ACCOUNT.firstPayer + index))
}

/** Deploys and mints the tokens, and funds accounts on Solana. */
export function deployer(): Wallet {
  return wallet(ACCOUNT.deployer)
}

export function solanaKeypair(wallet: SolanaWallet): Keypair {
  return Keypair.fromSecretKey(bs58.decode(wallet.secretKey))
}

/** Of BIP-39. viem makes it again for each account, in JavaScript: a tenth of a second each. */
const SEED = pbkdf2Sync(DEVNET_MNEMONIC, 'mnemonic', 2048, 64, 'sha512')
const EVM_KEY = HDKey.fromMasterSeed(SEED)

function wallet(account: number): Wallet {
  const evm = hdKeyToAccount(EVM_KEY, { addressIndex: account })
  const privateKey = evm.getHdKey().privateKey
  if (!privateKey) throw new Error('The mnemonic gave no private key.')
  const seed = solanaSeed(account)
  const publicKey = ed25519.getPublicKey(seed)
  return {
    evm: { address: evm.address, privateKey: toHex(privateKey) },
    solana: {
      address: bs58.encode(publicKey),
      secretKey: bs58.encode(Buffer.concat([seed, publicKey])),
    },
  }
}

/** SLIP-0010 on ed25519 at `m/44'/501'/account'/0'`, the path that Phantom and MetaMask use for Solana. */
function solanaSeed(account: number): Buffer {
  let node = createHmac('sha512', 'ed25519 seed').update(SEED).digest()
  for (const index of [44, 501, account, 0]) {
    const step = Buffer.alloc(37)
    node.copy(step, 1, 0, 32)
    step.writeUInt32BE((0x80000000 | index) >>> 0, 33)
    node = createHmac('sha512', node.subarray(32)).update(step).digest()
  }
  return node.subarray(0, 32)
}

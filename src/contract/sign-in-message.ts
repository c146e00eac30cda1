import { chainIdOf, familyOf, SOLANA_DEVNET, SOLANA_MAINNET, type NetworkId } from './network.ts'

/** Names that Solana wallets know their clusters by; any other goes by its CAIP-2 id. */
const SOLANA_CLUSTERS: Readonly<Record<NetworkId, string>> = {
  [SOLANA_MAINNET]: 'mainnet',
  [SOLANA_DEVNET]: 'devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHScCKQY3': 'testnet',
}

export type SignInFacts = {
  /** Of the site that asks. */
  origin: string
  wallet: string
  network: NetworkId
  /** What the signature is for: one line. */
  statement: string
  nonce: string
  issuedAt: Date
  expiresAt: Date
  requestId: string
}

/**
 * The text a wallet signs: Sign-In with Ethereum (ERC-4361) or Sign-In with Solana, which differ in the family's name and the chain's.
 * No scheme stands before the domain: wallets that check the domain against the page's do not all understand one.
 */
export function signInMessage(facts: SignInFacts): string {
  const evm = familyOf(facts.network) === 'evm'
  return [
    `${new URL(facts.origin).host} wants you to sign in with your ${evm ? 'Ethereum' : 'Solana'} account:`,
    facts.wallet,
    '',
    facts.statement,
    '',
    `URI: ${facts.origin}`,
    'Version: 1',
    `Chain ID: ${evm ? chainIdOf(facts.network) : (SOLANA_CLUSTERS[facts.network] ?? facts.network)}`,
    `Nonce: ${facts.nonce}`,
    `Issued At: ${facts.issuedAt.toISOString()}`,
    `Expiration Time: ${facts.expiresAt.toISOString()}`,
    `Request ID: ${facts.requestId}`,
  ].join('\n')
}

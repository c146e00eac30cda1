import { PublicKey, type Connection, SystemProgram, type AccountInfo } from '@solana/web3.js'
import { TOKEN_PROGRAM, PROGRAMS, TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { readExtensions, isMintAccount } from '#chains/solana/token-account.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import type { RecipientReason } from '#contract/reasons.ts'
import type { TokenInfo } from '../chain.ts'
import { nativeToken, printableText } from '../contracts.ts'
import type { SolanaEndpoints } from './client.ts'

const LOADERS: readonly string[] = [
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'
const INCINERATOR = '1nc1nerator11111111111111111111111111111111'
/** Programs that are refused by name too: a cluster that has not deployed one knows no account there. */
const KNOWN_PROGRAMS: readonly string[] = [
  ...PROGRAMS,
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
]

/**
 * What is read of an account that a caller names, in bytes: it may hold 10 MiB. The head of a wallet
 * says what it is, and the names of a token are among its first extensions.
 */
export const WALLET_HEAD = {
  commitment: 'confirmed',
  dataSlice: { offset: 0, length: 256 },
} as const
const MINT_HEAD = { commitment: 'confirmed', dataSlice: { offset: 0, length: 8_192 } } as const

/** Why an address is no wallet that can be paid; undefined when it is one, or may become one. */
export function refuseRecipient(
  address: string,
  account: AccountInfo<Buffer> | null,
): RecipientReason | undefined {
  if (KNOWN_PROGRAMS.includes(address)) return { code: 'program_account', params: {} }
  if (address === INCINERATOR) return { code: 'incinerator', params: {} }
  if (!account) return undefined
  const owner = account.owner.toBase58()
  if (account.executable || LOADERS.includes(owner)) return { code: 'program_account', params: {} }
  if (owner === SYSVAR_OWNER) return { code: 'system_account', params: {} }
  if (isMint(account)) return { code: 'token_mint', params: {} }
  if (TOKEN_PROGRAMS.includes(owner)) return { code: 'token_account', params: {} }
  return undefined
}

function isMint(account: AccountInfo<Buffer>): boolean {
  return isMintAccount(plain(account))
}

/** The account as this repository's own readers take it. */
export function plain(account: AccountInfo<Buffer>): { owner: string; data: Uint8Array } {
  return { owner: account.owner.toBase58(), data: account.data }
}

/** Whether the address can sign a plain transfer: a wallet, or nothing yet. */
export function canPay(account: AccountInfo<Buffer> | null): boolean {
  return (
    account === null ||
    (account.owner.equals(SystemProgram.programId) &&
      account.data.length === 0 &&
      !account.executable)
  )
}

const METAPLEX_PROGRAM = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
/** Token-2022: the extension that holds name and symbol in the mint itself. */
const TOKEN_METADATA = 19

type Names = { name: string | null; symbol: string | null }

/** An SPL Token or Token-2022 mint, or the native currency; undefined when the address is neither. */
export function readToken(
  endpoints: SolanaEndpoints,
  network: Network,
  address: string,
): Promise<TokenInfo | undefined> {
  if (address === SOLANA_NATIVE) return Promise.resolve(nativeToken(network))
  return endpoints.request(async (connection): Promise<TokenInfo | undefined> => {
    const mint = new PublicKey(address)
    const account = await connection.getAccountInfo(mint, MINT_HEAD)
    if (!account || !isMint(account)) return undefined
    const { data } = account
    const names = readExtension(data) ??
      (await readMetaplex(connection, mint)) ?? { name: null, symbol: null }
    return {
      address,
      standard: account.owner.toBase58() === TOKEN_PROGRAM ? 'spl-token' : 'token-2022',
      ...names,
      decimals: data.readUInt8(44),
      totalSupplyAtomic: data.readBigUInt64LE(36),
      mintAuthority: readOptionalKey(data, 0),
      freezeAuthority: readOptionalKey(data, 46),
      eip3009: false,
    }
  })
}

/** A key behind a 4-byte flag: SPL Token's COption. */
function readOptionalKey(data: Buffer, offset: number): string | null {
  if (data.readUInt32LE(offset) === 0) return null
  return new PublicKey(data.subarray(offset + 4, offset + 36)).toBase58()
}

function readExtension(data: Uint8Array): Names | undefined {
  const metadata = readExtensions(data).find(({ type }) => type === TOKEN_METADATA)
  // Update authority and mint come first.
  return metadata && readNames(Buffer.from(metadata.value.subarray(64)))
}

async function readMetaplex(connection: Connection, mint: PublicKey): Promise<Names | undefined> {
  const [address] = PublicKey.findProgramAddressSync(
    [new TextEncoder().encode('metadata'), METAPLEX_PROGRAM.toBytes(), mint.toBytes()],
    METAPLEX_PROGRAM,
  )
  const account = await connection.getAccountInfo(address, MINT_HEAD)
  if (!account?.owner.equals(METAPLEX_PROGRAM)) return undefined
  // Kind, update authority and mint come first.
  return readNames(account.data.subarray(65))
}

/** Two strings in Borsh: length, then UTF-8; padded with zeros by Metaplex. Undefined when the bytes are something else. */
function readNames(data: Buffer): Names | undefined {
  const name = readString(data, 0)
  const symbol = name && readString(data, name.end)
  return name && symbol && { name: printableText(name.text), symbol: printableText(symbol.text) }
}

function readString(data: Buffer, offset: number): { text: string; end: number } | undefined {
  if (offset + 4 > data.length) return undefined
  const end = offset + 4 + data.readUInt32LE(offset)
  return end > data.length
    ? undefined
    : { text: data.subarray(offset + 4, end).toString('utf8'), end }
}

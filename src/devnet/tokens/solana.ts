import { createHash } from 'node:crypto'
import { Keypair, PublicKey, type Connection } from '@solana/web3.js'
import * as v from 'valibot'
import type { Asset } from '#contract/network.ts'
import { deployer } from '../nodes/wallets.ts'

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const METADATA_PROGRAM = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const SYSTEM_PROGRAM = PublicKey.default

const MINT = Keypair.fromSeed(createHash('sha256').update('paydesk devnet USDC').digest()).publicKey

export const SOLANA_TOKENS = {
  USDC: { address: MINT.toBase58(), symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false },
} as const satisfies Record<string, Asset>

const USDC_EACH = 10_000_000_000n
const LAMPORTS_EACH = 1_000_000_000_000
const MINT_RENT = 1_461_600
const TOKEN_RENT = 2_039_280
const METADATA_RENT = 5_616_720

/** The mint, its metadata and the holders' accounts on the local Solana chain. Does nothing on a chain that has them. */
export async function createSolanaAccounts(
  connection: Connection,
  holders: readonly string[],
): Promise<void> {
  if (await connection.getAccountInfo(MINT)) return
  const owners = holders.map((address) => new PublicKey(address))
  const authority = new PublicKey(deployer().solana.address)
  await setAccount(connection, MINT, {
    lamports: MINT_RENT,
    owner: TOKEN_PROGRAM,
    data: mintData(authority, USDC_EACH * BigInt(owners.length)),
  })
  const [metadata] = PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), METADATA_PROGRAM.toBuffer(), MINT.toBuffer()],
    METADATA_PROGRAM,
  )
  await setAccount(connection, metadata, {
    lamports: METADATA_RENT,
    owner: METADATA_PROGRAM,
    data: metadataData(authority),
  })
  for (const owner of owners) {
    await setAccount(connection, owner, {
      lamports: LAMPORTS_EACH,
      owner: SYSTEM_PROGRAM,
      data: Buffer.alloc(0),
    })
    await setAccount(connection, associatedTokenAccount(owner), {
      lamports: TOKEN_RENT,
      owner: TOKEN_PROGRAM,
      data: tokenData(owner, USDC_EACH),
    })
  }
}

/** Where an owner's tokens of the local USDC lie. */
export function associatedTokenAccount(owner: PublicKey): PublicKey {
  const [address] = PublicKey.findProgramAddressSync(
    [owner.toBuffer(), TOKEN_PROGRAM.toBuffer(), MINT.toBuffer()],
    ASSOCIATED_TOKEN_PROGRAM,
  )
  return address
}

type Account = { lamports: number; owner: PublicKey; data: Buffer }

async function setAccount(
  connection: Connection,
  address: PublicKey,
  { lamports, owner, data }: Account,
): Promise<void> {
  const state = { lamports, owner: owner.toBase58(), data: data.toString('hex'), executable: false }
  const response = await fetch(connection.rpcEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'surfnet_setAccount',
      params: [address.toBase58(), state],
    }),
  })
  const { error } = v.parse(v.object({ error: v.optional(v.unknown()) }), await response.json())
  if (error !== undefined)
    throw new Error(
      `The Solana node refused the account ${address.toBase58()}: ${JSON.stringify(error)}`,
    )
}

/** `spl_token::state::Mint` */
function mintData(authority: PublicKey, supply: bigint): Buffer {
  const data = Buffer.alloc(82)
  data.writeUInt32LE(1, 0)
  authority.toBuffer().copy(data, 4)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(SOLANA_TOKENS.USDC.decimals, 44)
  data.writeUInt8(1, 45)
  data.writeUInt32LE(1, 46)
  authority.toBuffer().copy(data, 50)
  return data
}

/** `spl_token::state::Account`, initialized, without delegate or close authority. */
function tokenData(owner: PublicKey, amount: bigint): Buffer {
  const data = Buffer.alloc(165)
  MINT.toBuffer().copy(data, 0)
  owner.toBuffer().copy(data, 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(1, 108)
  return data
}

/** `mpl_token_metadata::state::Metadata`: key 4, texts padded with zeros to their greatest length. */
function metadataData(authority: PublicKey): Buffer {
  const text = (value: string, length: number) => {
    const bytes = Buffer.alloc(4 + length)
    bytes.writeUInt32LE(length, 0)
    bytes.write(value, 4)
    return bytes
  }
  const { name, symbol } = SOLANA_TOKENS.USDC
  const tail = Buffer.from([0, 0, 0, 0, 1, 0, 0])
  return Buffer.concat([
    Buffer.from([4]),
    authority.toBuffer(),
    MINT.toBuffer(),
    text(name, 32),
    text(symbol, 10),
    text('', 200),
    tail,
  ])
}

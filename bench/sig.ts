import { readFileSync } from 'node:fs'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { hexToBytes, verifyTypedData } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Authorization } from '#chains/evm/authorization.ts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'
import { recoverSigner } from '#chains/evm/token-authorization.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import { openRecovery } from '#service/chains/evm/recovery.ts'
import { authorizationDigest } from '#service/verification/authorization-digest.ts'
import { QUICK, runBench, spread } from './bench.ts'

/** `npm run bench:sig`: signatures a CPU second, in one process: ours beside viem (EIP-3009) and noble (Ed25519). */

const ROUNDS = QUICK ? 8 : 30
const ROUND_MS = QUICK ? 250 : 500

const DOMAIN = { name: 'USD Coin', version: '2', chainId: 8_453 } as const
const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const account = privateKeyToAccount(generatePrivateKey())
const message = {
  from: account.address,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: 10_000n,
  validAfter: 0n,
  validBefore: 2_000_000_000n,
  nonce: `0x${'a7'.repeat(32)}`,
} as const
const typed = {
  domain: { ...DOMAIN, verifyingContract: token },
  types: AUTHORIZATION_TYPES,
  primaryType: 'TransferWithAuthorization',
  message,
} as const
const signature = await account.signTypedData(typed)
const { value: amountAtomic, ...signed } = message
const authorization: Authorization = {
  method: 'eip3009',
  token,
  amountAtomic,
  ...signed,
  signature,
}

const solana = ed25519.keygen()
const solanaAddress = bs58.encode(solana.publicKey)
const text = new Uint8Array(300).fill(7)
const solanaSignature = ed25519.sign(text, solana.secretKey)

type Side = () => Promise<boolean> | boolean

await runBench('sig', async (bench) => {
  const recovery = await openRecovery((error) => console.error(error))
  console.log(`viem ${versionOf('viem')}, noble ${versionOf('@noble/curves')}, ours by ${recovery}`)
  const rows: [string, number, Side, Side][] = [
    [
      'EIP-3009 signature, a second',
      25,
      () => verifyTypedData({ ...typed, address: account.address, signature }),
      () =>
        recoverSigner(authorizationDigest(authorization, DOMAIN), hexToBytes(signature)) ===
        account.address,
    ],
    [
      'Ed25519 signature, a second',
      25,
      () => ed25519.verify(solanaSignature, text, solana.publicKey, { zip215: false }),
      () => verifySignature(solanaSignature, text, solanaAddress),
    ],
  ]
  for (const [name, least, peer, ours] of rows) {
    for (const side of [peer, ours]) if (!(await side())) throw new Error(`${name}: refused`)
    const pairs: [number, number][] = []
    for (let round = 0; round < ROUNDS; round++) pairs.push([await rate(peer), await rate(ours)])
    const ratio = spread(pairs.map(([theirs, own]) => own / theirs))
    bench.add({
      name,
      peer: spread(pairs.map(([theirs]) => theirs)).p50,
      ours: spread(pairs.map(([, own]) => own)).p50,
      value: ratio.p10,
      least,
      unit: '×',
    })
  }
})

/** In a second of CPU time: what other processes use does not count. */
async function rate(run: Side): Promise<number> {
  const cpu = process.cpuUsage()
  const until = performance.now() + ROUND_MS
  let count = 0
  while (performance.now() < until) {
    await run()
    count++
  }
  const { user, system } = process.cpuUsage(cpu)
  return count / ((user + system) / 1e6)
}

function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  const manifest: { version: string } = JSON.parse(readFileSync(file, 'utf8'))
  return manifest.version
}

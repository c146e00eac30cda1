import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SealedWallet, Signer } from '#signer/protocol.ts'
import { unseal, type KeyVault } from '#signer/seal.ts'
import { createSigner } from '#signer/signer.ts'
import { createVault } from '#signer/vaults.ts'

/** The signer's own code in the process of a test, with a new vault key and its folder. */
export type TestSigner = Signer & {
  vault: KeyVault
  folder: string
  /** What only a test may read: the key of a wallet. */
  secretOf(wallet: SealedWallet): Promise<Uint8Array>
  /** Writes the operator's policy; it takes effect at the next signature. */
  setPolicy(policy: unknown): void
}

const WITHOUT_LIMITS = { rules: [{ wallet: '*' }] }

/** `clock`: of both, the machine's time and the time that passes. */
export function openTestSigner(clock?: () => number): TestSigner {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-signer-'))
  const policyFile = join(folder, 'policy.json')
  const setPolicy = (policy: unknown) =>
    writeFileSync(policyFile, JSON.stringify(policy), { mode: 0o600 })
  setPolicy(WITHOUT_LIMITS)
  const vault = createVault(randomBytes(32))
  const signer = createSigner({ vault, folder, policyFile, now: clock, uptime: clock })
  const opened: TestSigner = {
    ...signer,
    vault,
    folder,
    setPolicy,
    secretOf: (wallet) => unseal(vault, wallet, wallet),
    async [Symbol.asyncDispose]() {
      await signer[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  known.set(opened, opened)
  return opened
}

const known = new WeakMap<Signer, TestSigner>()

/** The signer of a context that a test has opened. */
export function testSigner({ signer }: { signer: Signer }): TestSigner {
  const opened = known.get(signer)
  if (!opened) throw new Error('This signer runs in another process.')
  return opened
}

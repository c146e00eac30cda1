import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stdout } from 'node:process'
import { hexToBytes, serializeTransaction } from 'viem'
import { openSigner } from '#signer/client.ts'
import type { SealedWallet, Signer } from '#signer/protocol.ts'
import { openTestSigner } from '#testing/test-signer.ts'

/** `npm run bench:signer`: signatures a second in one process and over the socket, one after the other and 32 at once, and what starting the signer takes. */

const COUNT = 200
const AT_ONCE = 32

const folder = mkdtempSync(join(tmpdir(), 'pd-bench-'))
const from = performance.now()
const started = await openSigner({ env: { VAULT_KEY_FILE: join(folder, 'vault.key') } })
report('start of the process, ms', performance.now() - from)
await measure('in one process', openTestSigner())
await measure('over the socket', started)
rmSync(folder, { recursive: true, force: true })

async function measure(where: string, signer: Signer): Promise<void> {
  await signer.vaultKey({ make: true })
  const wallet = await signer.seal({ id: 'wal_1', accountId: 'acc_1', family: 'evm' })
  let nonce = 0
  const run = async (workers: number): Promise<number> => {
    const begun = performance.now()
    const until = nonce + COUNT
    await Promise.all(
      Array.from({ length: workers }, async () => {
        while (nonce < until) await sign(signer, wallet, nonce++)
      }),
    )
    return COUNT / ((performance.now() - begun) / 1_000)
  }
  await run(1)
  report(`${where}, one after the other, signatures/s`, await run(1))
  report(`${where}, ${AT_ONCE} at once, signatures/s`, await run(AT_ONCE))
  await signer[Symbol.asyncDispose]()
}

function sign(signer: Signer, wallet: SealedWallet, nonce: number) {
  const fields = { chainId: 1, nonce, gas: 21_000n, value: 1n, maxFeePerGas: 10n ** 9n } as const
  const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const unsigned = serializeTransaction({ type: 'eip1559', to, ...fields })
  return signer.sign({ wallet, transaction: hexToBytes(unsigned), proof: { url: null } })
}

function report(what: string, figure: number): void {
  stdout.write(`${what}: ${figure.toFixed(0)}\n`)
}

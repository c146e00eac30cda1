import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { BenchFixture } from '../fixture.ts'

export type Peer = AsyncDisposable & { url: string; pid: number }

/** Starts what a bench compares with, in a process as ours is; it prints its port. */
export async function startPeer(
  name: 'official' | 'express' | 'http-proxy',
  settings: Record<string, string>,
): Promise<Peer> {
  const main = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: { ...settings, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The peer ${name} ended.`)))
    child.stdout.on('data', (text: Buffer) => {
      const found = /port (\d+)/.exec(text.toString())?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The official facilitator on the EVM chain of a fixture, with a new key that has ether. */
export async function startOfficialPeer(
  { evm, networks }: BenchFixture,
  rpcUrl: string,
): Promise<Peer> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await evm.client.setBalance({ address, value: parseEther('1000') })
  return startPeer('official', {
    KEY: key,
    CHAIN_ID: networks[0].network.replace('eip155:', ''),
    RPC_URL: rpcUrl,
  })
}

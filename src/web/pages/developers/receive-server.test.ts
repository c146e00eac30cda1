import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ENV_FILE, environmentOf, RUN_COMMANDS } from './receive-server.ts'

const ETHEREUM = { network: 'eip155:1', testnet: true }
const SOLANA = { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', testnet: true }

test('the env file names the wallet that is paid on the network shown, with a key and without one', () => {
  const wallets = ['0xabc', '4kTq9ZsWmB7x', '0xdef']
  const payTo = (...shown: Parameters<typeof environmentOf>) =>
    /^PAY_TO=(.*)$/m.exec(environmentOf(...shown))?.[1]
  for (const key of [{}, { key: 'pk_test_abc' }, { key: 'pk_live_abc' }]) {
    const values = { serviceUrl: null, wallets, ...key }
    expect(payTo(ETHEREUM, values)).toBe('0xabc')
    expect(payTo(SOLANA, values)).toBe('4kTq9ZsWmB7x')
    expect(payTo(SOLANA, { ...values, wallets: ['0xabc'] })).toBe('')
  }
})

test('the commands of the page read the env file under the name it is saved with', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-file-'))
  try {
    const values = {
      serviceUrl: 'https://payments.example',
      wallets: ['0xabc'],
      key: 'pk_test_abc',
    }
    writeFileSync(join(folder, ENV_FILE), environmentOf(ETHEREUM, values))
    const print =
      'const { PAYDESK_URL, PAYDESK_KEY, PAY_TO, PORT } = process.env\nconsole.log(PAYDESK_URL, PAYDESK_KEY, PAY_TO, PORT)'
    writeFileSync(join(folder, 'server.ts'), print)
    // Not those that need a network.
    const commands = RUN_COMMANDS.split('\n').filter((line) => /^(node|\.) /.test(line))
    expect(commands).toHaveLength(2)
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-euc', [...commands, 'echo "$PAYDESK_URL $PAYDESK_KEY"'].join('\n')],
      {
        cwd: folder,
        env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
        encoding: 'utf8',
      },
    )
    expect([stdout, stderr]).toEqual([
      'https://payments.example pk_test_abc 0xabc 3000\nhttps://payments.example pk_test_abc\n',
      '',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

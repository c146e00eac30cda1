import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ENV_FILE, environmentOf, RUN_COMMANDS } from './receive-server.ts'

test('the commands of the page read the env file under the name it is saved with', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-file-'))
  try {
    const values = { serviceUrl: 'https://payments.example', payTo: '0xabc', key: 'pk_test_abc' }
    writeFileSync(join(folder, ENV_FILE), environmentOf({ testnet: true }, values))
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

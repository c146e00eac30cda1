import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { env } from 'node:process'

/** A program of Debian, installed where this is root; undefined where it is not there and cannot be. */
export function findDebianProgram(name: string, path = `/usr/bin/${name}`): string | undefined {
  if (existsSync(path)) return path
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]])
    if (
      spawnSync('apt-get', ['-qq', ...args], {
        stdio: 'ignore',
        env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
      }).status !== 0
    )
      return undefined
  return existsSync(path) ? path : undefined
}

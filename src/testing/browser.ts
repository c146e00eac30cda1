import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The first is what headless runs need, and takes less of the processor. */
const INSTALLED = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
]

type Env = Record<string, string | undefined>

/** The Chromium the browser tests run in: the one `CHROME` names, the system's, one from apt where we are root, else the one in an npm package. */
export async function findBrowser(env: Env): Promise<string> {
  if (env.CHROME) {
    if (!existsSync(env.CHROME))
      throw new Error(`CHROME names ${env.CHROME}, which does not exist.`)
    return env.CHROME
  }
  return findInstalled() ?? installWithApt(env) ?? (await unpackFromPackage(env))
}

function findInstalled(): string | undefined {
  return INSTALLED.find((path) => existsSync(path))
}

function installWithApt(env: Env): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  console.log(
    'Installing chromium-headless-shell with apt, about 200 MB; name a Chromium of your own with CHROME to avoid this.',
  )
  for (const args of [
    ['update'],
    ['install', '-y', '--no-install-recommends', 'chromium-headless-shell'],
  ]) {
    const apt = spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (apt.status !== 0) {
      console.log(`apt-get ${args[0]} failed; taking the Chromium of the npm package instead.`)
      return undefined
    }
  }
  return findInstalled()
}

/** The package unpacks to the temporary folder and adds its own libraries only where it believes to be on AWS Lambda. */
async function unpackFromPackage(env: Env): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('No Chromium found. Install one and name it: CHROME=/path/to/chromium npm test')
  }
  env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs24.x'
  console.log(`Using the Chromium of the npm package @sparticuz/chromium, unpacked to ${tmpdir()}.`)
  const { default: chromium } = await import('@sparticuz/chromium')
  return chromium.executablePath()
}

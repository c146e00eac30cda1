// Installs the dependencies, so that `npm start` and `npm test` each work right after a clone.
// Plain JavaScript without our own imports: it runs before anything is installed, on any Node.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const reason = whyInstall()
if (reason) {
  console.log(
    `Installing dependencies (${reason}): npm ci. The first time this takes about a minute.`,
  )
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (npm.error) console.error(`npm could not be started: ${npm.error.message}`)
  if (npm.status !== 0) {
    console.error(
      'The dependencies could not be installed; see the lines above. Is the npm registry reachable?',
    )
    process.exit(npm.status ?? 1)
  }
}

/**
 * Why an install is needed; undefined when every package of the lockfile is present in its version.
 */
function whyInstall() {
  const wanted = packagesOf('package-lock.json')
  const installed = packagesOf('node_modules/.package-lock.json')
  if (!installed) return 'none yet'
  if (!existsSync(join(root, 'node_modules/node/bin/node')) && process.platform !== 'win32')
    return 'the pinned Node is missing'
  for (const [path, { version, integrity, optional }] of Object.entries(wanted ?? {})) {
    // The lockfile's first entry is this project; packages for other platforms are optional and
    // stay out.
    if (path === '' || (optional && !installed[path])) continue
    if (installed[path]?.version !== version || installed[path]?.integrity !== integrity)
      return `${path.replace(/^node_modules\//, '')} is new or of another version`
  }
  return undefined
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

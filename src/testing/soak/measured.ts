import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { argv, env, memoryUsage, pid } from 'node:process'
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loaded by a program before its own code (`--import`): it measures its process when it is asked over a Unix socket, which is in the folder
 * that `SOAK_FOLDER` names and is called after the program: `service.sock`, `bff.sock`. With `/snapshot` it writes its heap beside it.
 */

export type SoakSample = {
  heapBytes: number
  /** Memory outside of the heap, such as buffers. */
  externalBytes: number
  rssBytes: number
  /** Sockets, timers and files that keep the process alive. */
  handles: number
  descriptors: number
}

const folder = env['SOAK_FOLDER']
if (folder !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const program = basename(dirname(argv[1] ?? ''))
  const server = createServer((request, response) => {
    // The first collection runs finalizers, and the second collects what they released.
    collect()
    collect()
    if (request.url === '/snapshot')
      return void response.end(
        writeHeapSnapshot(join(folder, `${program}-${pid}-${Date.now()}.heapsnapshot`)),
      )
    const { heapUsed, external, rss } = memoryUsage()
    const sample: SoakSample = {
      heapBytes: heapUsed,
      externalBytes: external,
      rssBytes: rss,
      handles: process.getActiveResourcesInfo().length,
      descriptors: readdirSync('/proc/self/fd').length,
    }
    response.end(JSON.stringify(sample))
  })
  server.listen(join(folder, `${program}.sock`)).unref()
}

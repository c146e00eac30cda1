import { resolve } from 'node:path'
import * as v from 'valibot'
import { backUpDatabase } from '#postgres/backup.ts'
import { read, type ClosedCommands } from './command-line.ts'

export const backupCommands: ClosedCommands = {
  backup: {
    options: ['file'],
    async runClosed(source, values) {
      const file = resolve(
        read(values, 'file', [v.pipe(v.string(), v.nonEmpty()), 'the path of a new file']),
      )
      const bytes = await backUpDatabase(source, file)
      return {
        value: { file, bytes },
        text: `The backup is in ${file}, ${bytes} bytes.
It has neither the vault key nor SIGNER_DIR: keep a copy of the vault key apart from it.`,
      }
    },
  },
}

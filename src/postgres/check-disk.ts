import { sql } from 'drizzle-orm'
import type { Database } from './open.ts'

/**
 * Has the database write about 1 MiB to its disk, and drop it: a sort that does not fit into memory.
 * It touches no row, so it needs no rights and leaves nothing behind, and a disk with less space
 * than that is as good as full.
 * @throws when the disk is full, or cannot be written
 */
export async function checkDisk(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('work_mem', '64kB', true)`)
    await tx.execute(sql`
      select sum(length(filler)) from (
        select repeat('x', 1000) as filler from generate_series(1, 1100) as number
        order by number desc offset 0) as sorted`)
  })
}

import type { Database } from './open.ts'

type Follow = (root: Database) => void

/** Open transactions, and what is to be done once each has committed. */
const open = new WeakMap<Database, Set<Follow>>()

/**
 * Calls `follow` once with the whole database when the transaction `db` has committed, at once where
 * `db` is no transaction, and never when it is rolled back.
 */
export function afterCommit(db: Database, follow: Follow): void {
  const waiting = open.get(db)
  if (waiting) waiting.add(follow)
  else follow(db)
}

/** Makes the transactions of a database tell when they have committed. */
export function observeCommits(db: Database): Database {
  const begin = db.transaction.bind(db)
  db.transaction = async (work, config) => {
    const waiting = new Set<Follow>()
    const result = await begin((tx) => {
      // A savepoint commits with its transaction.
      const nest = tx.transaction.bind(tx)
      tx.transaction = (inner) =>
        nest((part) => {
          open.set(part, waiting)
          return inner(part)
        })
      open.set(tx, waiting)
      return work(tx)
    }, config)
    for (const follow of waiting) follow(db)
    return result
  }
  return db
}

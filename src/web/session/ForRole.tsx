import type { ReactNode } from 'react'
import { hasRole, type Role } from '#contract/role.ts'
import { useRole } from '../api/session.ts'

/** Shows its children to people who may do at least this; the proxy refuses everyone else. */
export function ForRole({ least, children }: { least: Role; children: ReactNode }) {
  return hasRole(useRole(), least) && children
}

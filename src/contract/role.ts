/**
 * What people may do in the merchant's account, from the most to the least; each may do what those
 * after it may. Viewers read what the account has, operators also change it, owners also decide
 * about people and API keys.
 */
export const ROLES = ['owner', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Whether a role reaches another; who has none reaches none. */
export function hasRole(role: Role | null | undefined, least: Role): boolean {
  return role !== null && role !== undefined && ROLES.indexOf(role) <= ROLES.indexOf(least)
}

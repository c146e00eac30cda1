import { MOST_CUSTOMERS } from '#contract/customer-endpoints.ts'
import {
  changeProfile,
  deleteProfile,
  findCheckouts,
  findProfiles,
  searchProfiles,
  type ProfileRow,
} from '../db/profiles.ts'
import { readPersonal } from '../db/invoices.ts'
import { type OwnRule, may, requireRole } from '../session/rule.ts'
import { readPayer } from './invoices.ts'

/**
 * Who customers are: personal data, in a table of the proxy. The service never sees it, and the audit
 * log names the wallet alone.
 */

export const profileRead: OwnRule<'profileRead'> = async ({ context, visitor, body }) => {
  const session = requireRole(visitor, 'viewer')
  context.budgets.spendNote(visitor.address)
  const rows = await findProfiles(context.db, body.wallets)
  return { value: { profiles: rows.map((row) => toProfile(row, may(session, 'operator'))) } }
}

/** A viewer, who is shown no e-mail address, cannot guess one by searching either. */
export const profileFind: OwnRule<'profileFind'> = async ({ context, visitor, body }) => {
  const emails = may(requireRole(visitor, 'viewer'), 'operator')
  context.budgets.spendNote(visitor.address)
  const rows = await searchProfiles(context.db, { text: body.text, emails, limit: MOST_CUSTOMERS })
  return { value: { profiles: rows.map((row) => toProfile(row, emails)) } }
}

export const profileWrite: OwnRule<'profileWrite'> = async ({ context, visitor, body }) => {
  const by = requireRole(visitor, 'operator').member.wallet
  context.budgets.spendNote(visitor.address)
  const { walletAddress, ...change } = body
  const row = await changeProfile(context.db, walletAddress, { ...change, by, at: context.now() })
  return { value: { profile: toProfile(row, true) } }
}

export const profileExport: OwnRule<'profileExport'> = async (call) => {
  const { context, visitor, body } = call
  context.budgets.spendNote(visitor.address)
  const { walletAddress } = body
  const payer = await readPayer(call, walletAddress)
  const [[profile], checkouts, invoices] = await Promise.all([
    findProfiles(context.db, [walletAddress]),
    findCheckouts(context.db, walletAddress),
    readPersonal(context.db, payer),
  ])
  return {
    value: {
      walletAddress,
      exportedAt: context.now().getTime(),
      profile: profile ? toProfile(profile, true) : null,
      checkouts: checkouts.map((each) => ({ ...each, createdAt: each.createdAt.getTime() })),
      invoices: invoices.map(({ row, customer }) => ({
        id: row.id,
        number: row.number,
        issuedOn: row.issuedOn,
        currency: row.currency.code,
        total: row.total,
        name: customer?.name ?? null,
        email: customer?.email ?? null,
        address: customer?.address ?? null,
        note: row.note,
      })),
    },
  }
}

/** Asked again, it has nothing to delete and says the same. */
export const profileDelete: OwnRule<'profileDelete'> = async (call) => {
  const { context, visitor, body } = call
  context.budgets.spendNote(visitor.address)
  await deleteProfile(context.db, await readPayer(call, body.walletAddress), context.now())
  return { value: { deleted: true } }
}

function toProfile({ wallet, name, labels, note, email, updatedAt }: ProfileRow, emails: boolean) {
  return {
    walletAddress: wallet,
    name,
    labels,
    note,
    email: emails ? email : null,
    updatedAt: updatedAt.getTime(),
  }
}

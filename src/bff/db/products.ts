import { desc, eq, inArray } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { product, productImage } from './schema.ts'

export type ProductRow = typeof product.$inferSelect
export type ImageRow = typeof productImage.$inferSelect

export async function listProducts(db: Database, limit: number): Promise<ProductRow[]> {
  return db.select().from(product).orderBy(desc(product.createdAt), desc(product.id)).limit(limit)
}

export async function findProduct(db: Database, id: string): Promise<ProductRow | undefined> {
  return (await db.select().from(product).where(eq(product.id, id)))[0]
}

/** With its picture, or without both. */
export async function insertProduct(
  db: Database,
  row: ProductRow,
  image: ImageRow | undefined,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (image) await tx.insert(productImage).values(image)
    await tx.insert(product).values(row)
  })
}

/** @returns nothing where no product has the id */
export async function updateProduct(
  db: Database,
  { id, ...fields }: Partial<Omit<ProductRow, 'createdAt' | 'createdBy'>> & { id: string },
  image?: ImageRow,
): Promise<ProductRow | undefined> {
  return db.transaction(async (tx) => {
    if (image) await tx.insert(productImage).values(image)
    const rows = await tx.update(product).set(fields).where(eq(product.id, id)).returning()
    return rows[0]
  })
}

export async function findImages(db: Database, ids: readonly string[]): Promise<ImageRow[]> {
  return db
    .select()
    .from(productImage)
    .where(inArray(productImage.id, [...ids]))
}

import { expect, type Locator } from '@playwright/test'

/**
 * It is not in view, and does not come into view for two seconds. For pages that show nothing where
 * they have nothing to tell: an assertion that ends at once would be satisfied before they have read.
 */
export async function expectAbsent(target: Locator): Promise<void> {
  await expect(async () => {
    await expect(target).toHaveCount(0)
    await expect(target.first().waitFor({ timeout: 2_000 })).rejects.toThrow(/Timeout/)
  }).toPass({ timeout: 60_000 })
}

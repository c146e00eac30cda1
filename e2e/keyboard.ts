import { expect, type Locator } from '@playwright/test'

/** Presses Tab until the focus is there; a control the focus cannot reach fails. */
export async function tabTo(target: Locator): Promise<void> {
  await expect(target).toBeEnabled()
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await target.page().keyboard.press('Tab')
  }
  throw new Error(`80 presses of Tab did not reach ${target.toString()}.`)
}

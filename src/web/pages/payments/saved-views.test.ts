import { expect, test } from 'vitest'
import { getSavedViews, isSameFilter, removeView, saveView } from './Views.tsx'

const names = () => getSavedViews().map(({ name }) => name)

test('a deleted view comes back where it was, once', () => {
  const [, two] = ['one', 'two', 'three'].map((name) => saveView(name, { type: 'sent' }))
  const undo = removeView(two?.id ?? '')
  expect(names()).toEqual(['one', 'three'])
  undo()
  undo()
  expect(names()).toEqual(['one', 'two', 'three'])
  saveView('one', { q: 'x' })
  expect(names()).toEqual(['two', 'three', 'one'])
})

test('views are the same by what they name, not by how it was put together', () => {
  expect(isSameFilter({ type: 'sent', q: 'a' }, { q: 'a', type: 'sent', status: undefined })).toBe(
    true,
  )
  expect(isSameFilter({ type: 'sent' }, { type: 'received' })).toBe(false)
})

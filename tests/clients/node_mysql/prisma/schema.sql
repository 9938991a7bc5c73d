-- CreateTable
CREATE TABLE `Author` (
    `id` INTEGER NOT NULL AUTO_INCREMENT,
    `name` VARCHAR(40) NOT NULL,
    `born` DATE NULL,
    `mood` ENUM('merry', 'sad') NOT NULL DEFAULT 'sad',
    `profile` JSON NULL,

    UNIQUE INDEX `Author_name_key`(`name`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- CreateTable
CREATE TABLE `book` (
    `id` BIGINT NOT NULL AUTO_INCREMENT,
    `key` CHAR(36) NOT NULL,
    `title` VARCHAR(191) NOT NULL,
    `price` DECIMAL(10, 2) NULL,
    `pages` INTEGER UNSIGNED NULL,
    `weight` DOUBLE NULL,
    `sold` BOOLEAN NOT NULL DEFAULT false,
    `added` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    `cover` LONGBLOB NULL,
    `authorId` INTEGER NOT NULL,

    UNIQUE INDEX `book_key_key`(`key`),
    INDEX `book_title_price_idx`(`title`, `price`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- CreateTable
CREATE TABLE `Topic` (
    `name` VARCHAR(60) NOT NULL,

    PRIMARY KEY (`name`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- CreateTable
CREATE TABLE `_circle` (
    `A` INTEGER NOT NULL,
    `B` INTEGER NOT NULL,

    UNIQUE INDEX `_circle_AB_unique`(`A`, `B`),
    INDEX `_circle_B_index`(`B`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- CreateTable
CREATE TABLE `_BookToTopic` (
    `A` BIGINT NOT NULL,
    `B` VARCHAR(60) NOT NULL,

    UNIQUE INDEX `_BookToTopic_AB_unique`(`A`, `B`),
    INDEX `_BookToTopic_B_index`(`B`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- AddForeignKey
ALTER TABLE `book` ADD CONSTRAINT `book_authorId_fkey` FOREIGN KEY (`authorId`) REFERENCES `Author`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE `_circle` ADD CONSTRAINT `_circle_A_fkey` FOREIGN KEY (`A`) REFERENCES `Author`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE `_circle` ADD CONSTRAINT `_circle_B_fkey` FOREIGN KEY (`B`) REFERENCES `Author`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE `_BookToTopic` ADD CONSTRAINT `_BookToTopic_A_fkey` FOREIGN KEY (`A`) REFERENCES `book`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE `_BookToTopic` ADD CONSTRAINT `_BookToTopic_B_fkey` FOREIGN KEY (`B`) REFERENCES `Topic`(`name`) ON DELETE CASCADE ON UPDATE CASCADE;
